import Foundation
import Logging
import TomboloTraceExport

/// A device of the end-to-end tests: one process, one file. It reads commands from standard input, one a line, words
/// separated by tabs, and answers each with `= result` or `! what went wrong`. `+ id` lines report the edits that it
/// makes on its own: each is on the disk when its line is written.
@main
struct EndToEndDevice {
    @MainActor
    static func main() async {
        guard CommandLine.arguments.count == 2 else {
            say("! usage: EndToEndDevice FILE")
            exit(64)
        }
        if let traces = try? OTLPConfiguration.read(service: "device") {
            let tracer = OTLPTracer(traces, logger: Logger(label: "traces"))
            tracer.install()
            Task { try await tracer.run() }
        }
        let device = Device(file: URL(fileURLWithPath: CommandLine.arguments[1]))
        for await line in lines() {
            let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            do {
                say("= \(try await device.perform(words[0], Array(words.dropFirst())))")
            } catch {
                say("! \(error)")
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
