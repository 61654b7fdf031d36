import Testing

@testable import TomboloPostgresStore

@Suite struct WakeUpTests {
    @Test(.timeLimit(.minutes(5)))
    func `A wait ends even if its time is over before it has begun`() async {
        let wakeUp = WakeUp()
        for _ in 0..<50_000 { await wakeUp.wait(.nanoseconds(1)) }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A wake-up that comes before the wait ends it`() async {
        let wakeUp = WakeUp()
        wakeUp.wake()
        await wakeUp.wait(.seconds(1 << 30))
    }
}
