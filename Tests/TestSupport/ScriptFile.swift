/// Shell scripts that tests have run as programs.
public enum ScriptFile {
    /// Writes a script, which only its owner may run.
    ///
    /// A process of its own writes it: children that other tests are just starting inherit what this process has open,
    /// and nobody can run a file that somebody has open for writing.
    public static func write(_ text: String, to path: String) throws {
        let writing = #"umask 077 && printf '%s' "$1" > "$2" && chmod 700 "$2""#
        try Command.run(["/bin/sh", "-c", writing, "sh", "#!/bin/sh\n\(text)\n", path])
    }
}
