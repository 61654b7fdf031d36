import Testing

@testable import TomboloPostgresStore

@Suite struct WakeUpTests {
    @Test(
        "A wait whose timeout has already passed ends",
        .timeLimit(.minutes(15)))
    func shortWaits() async {
        let wakeUp = WakeUp()
        for _ in 0..<5_000 { await wakeUp.wait(.nanoseconds(1)) }
    }

    @Test(
        "A wake-up that comes before the wait ends it at once",
        .timeLimit(.minutes(15)))
    func earlyWakeUp() async {
        let wakeUp = WakeUp()
        wakeUp.wake()
        await wakeUp.wait(.seconds(1 << 30))
    }
}
