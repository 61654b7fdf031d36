import ArgumentParser
import Foundation

/// Hostile connections: says `attacking`, and goes on until the standard input ends. A line is answered with `attacked`
/// and what was done until then.
struct HostileDevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "hostile-devices", shouldDisplay: false)
    /// Least of all priorities: hostile devices have processors of their own, and must not take the gateway's.
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
