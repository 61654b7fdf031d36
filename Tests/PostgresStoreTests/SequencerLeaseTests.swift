import Testing

@testable import TomboloPostgresStore

@Suite struct SequencerLeaseTests {
    private func state(after events: [SequencerLease.Event]) -> SequencerLease.State {
        var lease = SequencerLease()
        for event in events { lease.handle(event) }
        return lease.state
    }

    @Test(
        "A lease is held from its election until a tick or a renewal is refused",
        arguments: [
            ([], .locked), ([.counted(epoch: 7)], .elected(epoch: 7)),
            ([.renewalFailed], .lost(.session)), ([.counted(epoch: 7), .renewalFailed], .lost(.session)),
            ([.tickRefused], .lost(.epoch)), ([.counted(epoch: 7), .tickRefused], .lost(.epoch)),
            // An instance wins only one election; a second epoch is another instance's.
            ([.counted(epoch: 7), .counted(epoch: 8)], .lost(.epoch)),
        ] as [([SequencerLease.Event], SequencerLease.State)])
    func transitions(events: [SequencerLease.Event], expected: SequencerLease.State) {
        #expect(state(after: events) == expected)
    }

    @Test("A lost lease stays lost, whatever happens")
    func final() {
        let all: [SequencerLease.Event] = [.counted(epoch: 1), .renewalFailed, .tickRefused]
        for first in all {
            for second in all {
                guard case .lost = state(after: [first, second]) else { continue }
                for third in all { #expect(state(after: [first, second, third]) == state(after: [first, second])) }
            }
        }
    }

    @Test("Ticks have an epoch only while the lease is held")
    func epochs() throws {
        var lease = SequencerLease()
        #expect(throws: PostgresStoreError.self) { try lease.epoch() }
        lease.handle(.counted(epoch: 7))
        #expect(try lease.epoch() == 7)
        lease.handle(.renewalFailed)
        #expect(throws: PostgresStoreError.self) { try lease.epoch() }
    }

    @Test("A frozen sequencer is replaced within two seconds; one late renewal doesn't cost the lease")
    func bounds() {
        #expect(SequencerLease.duration + Sequencer.electionInterval * 2 <= .seconds(2))
        #expect(SequencerLease.renewalInterval * 3 <= SequencerLease.duration)
        #expect(SequencerLease.snapshotDuration > LeasePatience.limit + Sequencer.electionInterval)
        // Ticks are at most this far apart, and the connection that inserts them does nothing else.
        #expect(SequencerLease.connectionDuration > Sequencer.maximumSnapshotAge)
    }
}
