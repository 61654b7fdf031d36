import Foundation

/// Runs programs. Foundation's `Process` doesn't fit here: on Linux it considers a program running until every process that the
/// program left behind has ended, and a server stays.
enum Command {
    /// Starts a program that inherits no other descriptor of this process than `input`.
    ///
    /// - Parameters:
    ///   - input: its standard input; `nil` means empty.
    ///   - output: a descriptor for its standard output and error; `nil` discards both.
    static func start(
        _ arguments: [String], environment: [String: String] = [:], input: Int32? = nil, output: Int32? = nil
    ) throws -> pid_t {
        #if os(Linux)
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #else
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output, 1)
        } else {
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        #if os(Linux)
            // glibc's `closefrom` action isn't visible to Swift. The range includes descriptors that other threads open meanwhile,
            // because a pipe that a server inherits stays open while the server runs. Closing a descriptor that isn't open is
            // harmless.
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            for descriptor in 3..<((names.compactMap { Int32($0) }.max() ?? 3) + 1_024) {
                posix_spawn_file_actions_addclose(&actions, descriptor)
            }
        #else
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
        #endif
        var argv = arguments.map { strdup($0) }
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var envp = variables.map { strdup("\($0.key)=\($0.value)") }
        defer { for string in argv + envp { free(string) } }
        argv.append(nil)
        envp.append(nil)
        var pid: pid_t = 0
        let code = posix_spawn(&pid, arguments[0], &actions, &attributes, argv, envp)
        guard code == 0 else {
            throw TestClusterError("could not run \(arguments[0]): \(String(cString: strerror(code)))")
        }
        return pid
    }

    /// Two connected sockets: `theirs` becomes the standard input of a program, which ends when `ours` is closed.
    ///
    /// No other program inherits them, even one that another thread starts at this moment, because it would keep the input open.
    /// That's why this isn't a pipe, whose ends are inherited until they are marked.
    static func makeInput() throws -> (theirs: Int32, ours: Int32) {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
            let result = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends)
        #else
            // On macOS, programs inherit only what they are given.
            let result = socketpair(AF_UNIX, SOCK_STREAM, 0, &ends)
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #endif
        guard result == 0 else { throw TestClusterError("socketpair: \(String(cString: strerror(errno)))") }
        return (ends[0], ends[1])
    }

    /// Runs a program to completion.
    ///
    /// - Returns: its output.
    /// - Throws: `TestClusterError` with the output if the program fails.
    @discardableResult
    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> String {
        // A file, not a pipe: a server that the program leaves behind would keep a pipe open. The file is unlinked at once, so
        // nothing stays if this process is killed.
        var path = Array((NSTemporaryDirectory() + "/tc-output-XXXXXX").utf8CString)
        let output = mkstemp(&path)
        guard output >= 0 else {
            throw TestClusterError(
                "no temporary file in \(NSTemporaryDirectory()): \(String(cString: strerror(errno)))")
        }
        unlink(path)
        let file = FileHandle(fileDescriptor: output, closeOnDealloc: true)
        let pid = try start(arguments, environment: environment, output: output)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) == -1 && errno == EINTR {}
        try file.seek(toOffset: 0)
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        guard status == 0 else {
            throw TestClusterError("`\(arguments.joined(separator: " "))` ended with status \(status): \(text)")
        }
        return text
    }
}
