import EventModels
import Foundation
import Tombolo

/// A separate device: one process, one file. It reads commands from standard input, one per line, with words
/// separated by tabs. It answers each with `= result` or `! error`, and reports progress in lines `~ done of total`.
@main
struct DemoDevice {
    @MainActor
    static func main() async {
        guard CommandLine.arguments.count == 2 else {
            say("! usage: demo-device FILE (reads commands from standard input; 'make demo' runs it)")
            exit(64)
        }
        let device = Device(file: URL(fileURLWithPath: CommandLine.arguments[1]))
        for await line in Self.lines() {
            let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            do {
                say("= \(try await device.perform(words[0], Array(words.dropFirst())))")
            } catch {
                say("! \("\(error)".replacing("\n", with: " "))")
            }
            if words[0] == "quit" { break }
        }
    }

    /// Standard input, read on a thread of its own.
    private static func lines() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return stream
    }
}
