import Testing
import TomboloChangesets

@Suite struct HybridClockTests {
    @Test("Each stamp is later than the one before, whatever the wall clock does")
    func monotonic() {
        var clock = HybridClock()
        var last = Stamp(microseconds: 0)
        for wall in [100, 100, 50, 101, 0, 200] as [Int64] {
            let next = clock.next(wallMicroseconds: wall)
            #expect(next > last)
            last = next
        }
        #expect(last.microseconds == 200)
    }

    @Test("Stamps made after a batch are later than the batch")
    func adopting() {
        var clock = HybridClock()
        clock.adopt(serverTime: Stamp(microseconds: 1_000_000), wallMicroseconds: 500)
        #expect(clock.next(wallMicroseconds: 500).microseconds == 1_000_001)
        #expect(clock.next(wallMicroseconds: 700).microseconds == 1_000_200)
    }

    @Test("A clock that ran ahead never falls behind its own stamps")
    func runningAhead() {
        var clock = HybridClock()
        let ahead = clock.next(wallMicroseconds: 9_000)
        clock.adopt(serverTime: Stamp(microseconds: 1_000), wallMicroseconds: 9_100)
        #expect(clock.next(wallMicroseconds: 9_200) == Stamp(microseconds: ahead.microseconds + 1))
        #expect(clock.next(wallMicroseconds: 99_200).microseconds == 91_100)
    }

    @Test("Extreme clock values don't trap")
    func extremes() {
        var clock = HybridClock()
        clock.adopt(serverTime: Stamp(microseconds: .max - 10), wallMicroseconds: .min)
        #expect(clock.next(wallMicroseconds: .max) > Stamp(microseconds: 0))
    }

    @Test("Stamps are clamped between base and receipt")
    func clamping() {
        let earliest = Stamp(microseconds: 10)
        let latest = Stamp(microseconds: 20)
        #expect(Stamp(microseconds: 5).clamped(from: earliest, to: latest) == earliest)
        #expect(Stamp(microseconds: 15).clamped(from: earliest, to: latest).microseconds == 15)
        #expect(Stamp(microseconds: 25).clamped(from: earliest, to: latest) == latest)
        // The server's clock went back, so the base decides.
        #expect(Stamp(microseconds: 25).clamped(from: latest, to: earliest) == latest)
    }

    @Test("The server's time runs on from what the server reported, and never goes back")
    func serverClock() {
        let clock = ServerClock(Stamp(microseconds: 1_000_000), at: 500)
        #expect(clock.time(at: 250_500).microseconds == 1_250_000)
        #expect(clock.time(at: -500).microseconds == 1_000_000)
        #expect(ServerClock(Stamp(microseconds: .max), at: 0).time(at: 1).microseconds == .max)
        #expect(ServerClock(Stamp(microseconds: 7), at: .min).time(at: .max).microseconds == 7)
    }
}
