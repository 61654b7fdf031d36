internal import Foundation

extension MailHook {
    /// How long a program may take, in seconds.
    @TaskLocal static var commandSeconds: Double = 30

    /// Runs a program with the mail on standard input, and kills it when it takes too long.
    static func run(_ words: [String], _ mail: Mail) async throws {
        guard let program = words.first else { throw MailDeliveryError.notStarted(program: "") }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = Array(words.dropFirst())
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        // A file and not a pipe: otherwise a program that doesn't read would block the writer.
        process.standardInput = try file(mail)
        // Nil if a signal ended it.
        let status = try await withCheckedThrowingContinuation { (done: CheckedContinuation<Int32?, any Error>) in
            process.terminationHandler = {
                done.resume(returning: $0.terminationReason == .exit ? $0.terminationStatus : nil)
            }
            do {
                try process.run()
                DispatchQueue.global().asyncAfter(deadline: .now() + commandSeconds) {
                    // Other signals may not work: the program inherits the signal mask of Swift's pool threads, which
                    // block them.
                    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
                }
            } catch {
                process.terminationHandler = nil
                done.resume(throwing: MailDeliveryError.notStarted(program: program))
            }
        }
        guard let status else { throw MailDeliveryError.killed(program: program, limit: .seconds(commandSeconds)) }
        guard status == 0 else { throw MailDeliveryError.failed(program: program, status: status) }
    }

    /// The mail as an open file without a name, since it contains a token.
    private static func file(_ mail: Mail) throws -> FileHandle {
        let folder = FileManager.default.temporaryDirectory
        let path = folder.appending(path: "mail-\(UUID().uuidString)")
        guard let file = privateFile(path) else {
            throw MailDeliveryError.unwritable(path: folder.path(percentEncoded: false))
        }
        try? FileManager.default.removeItem(at: path)
        do {
            try file.write(contentsOf: Data(message(mail).utf8))
            try file.seek(toOffset: 0)
        } catch {
            throw MailDeliveryError.unwritable(path: folder.path(percentEncoded: false))
        }
        return file
    }

    /// A new file that only the server's user can read, from its first moment on; nil if it can't be made.
    static func privateFile(_ url: URL) -> FileHandle? {
        let descriptor = open(url.path(percentEncoded: false), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        return descriptor < 0 ? nil : FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}
