import ArgumentParser
import Foundation

/// Hostile connections. It prints `attacking` and continues until standard input ends. In response to each line, it
/// prints `attacked` with its counts so far.
struct HostileDevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "hostile-devices", shouldDisplay: false)
    /// The lowest priority: real hostile devices have their own CPUs, so these must not take the gateway's.
    private static let niceness: Int32 = 19

    @Option var port: Int
    @Option var token: String
    @Option var kind: HostileKind
    @Option var count: Int

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        #if os(Linux)
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
        #else
            setpriority(PRIO_PROCESS, 0, Self.niceness)
        #endif
        let hello = kind == .hellos ? HostileDevice.largeHello(token: token) : []
        let tally = HostileTally()
        for number in 0..<count {
            let device = HostileDevice(
                kind: kind, number: number, port: port, token: token, largeHello: hello, tally: tally)
            Thread.detachNewThread { device.run() }
        }
        Lines.say("attacking")
        for await _ in Lines.received() { Lines.say("attacked \(tally.text.replacing("\n", with: " "))") }
    }
}
