/// Shell scripts that tests run as programs.
public enum ScriptFile {
    /// Writes a script that only its owner may run.
    ///
    /// A separate process writes it: child processes that other tests are just starting inherit this process's open files, and a
    /// file that is open for writing can't be executed.
    public static func write(_ text: String, to path: String) throws {
        let writing = #"umask 077 && printf '%s' "$1" > "$2" && chmod 700 "$2""#
        try Command.run(["/bin/sh", "-c", writing, "sh", "#!/bin/sh\n\(text)\n", path])
    }
}
