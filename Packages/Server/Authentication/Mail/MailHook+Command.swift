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
        let file = FileManager.default.temporaryDirectory.appending(path: "mail-\(UUID().uuidString)")
        guard
            FileManager.default.createFile(
                atPath: file.path(), contents: Data(message(mail).utf8), attributes: [.posixPermissions: 0o600])
        else { throw MailDeliveryError.unwritable(path: FileManager.default.temporaryDirectory.path()) }
        defer { try? FileManager.default.removeItem(at: file) }
        process.standardInput = try FileHandle(forReadingFrom: file)
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
}
