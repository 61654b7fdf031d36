import Foundation
import Logging
import TomboloTraceExport

/// A device for the end-to-end tests: one process, one file. It reads commands from standard input, one per line, with words
/// separated by tabs, and answers each with `= result` or `! what went wrong`. A `+ id` line reports an edit that the device makes
/// on its own, and is written only once the edit is on the disk.
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

    /// Standard input, read on its own thread.
    private static func lines() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return stream
    }
}
