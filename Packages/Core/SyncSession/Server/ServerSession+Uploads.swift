internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol

extension ServerSession {
    mutating func upload(_ changesets: [Changeset]) -> [Action] {
        guard let first = changesets.first else { return [] }
        if let number = awaitsNewBase {
            guard first.number <= number else { return [] }
            awaitsNewBase = nil
        }
        let before = received
        for changeset in changesets {
            guard changeset.number <= received + 1 else {
                return fail(
                    SessionFailure(
                        .badMessage,
                        "The device uploaded changeset \(changeset.number) where \(received + 1) was expected. On each "
                            + "connection it must upload every changeset after its hello's 'acknowledged', in order "
                            + "and without gaps, including those the server already has."))
            }
            received = max(received, changeset.number)
        }
        if case .verifying = phase, received > before { heartbeats = 0 }
        guard waitingChangesets.count + changesets.count <= Self.maximumWaitingChangesets else {
            return fail(
                SessionFailure(
                    .tooLarge, "More than \(Self.maximumWaitingChangesets) changesets are waiting to be applied.",
                    isRetryable: true))
        }
        waitingChangesets +=
            authority?.partition.map { partition in
                changesets.map { partition.completing($0, in: schema) }
            } ?? changesets
        return uploadNext()
    }

    mutating func uploadNext() -> [Action] {
        guard uploading.isEmpty, !waitingChangesets.isEmpty, let authority else { return [] }
        let group = waitingChangesets
        waitingChangesets = []
        uploading = group.map(\.number)
        return [.upload(group, authority)]
    }

    mutating func finishUpload(_ results: [UploadResult]) -> [Action] {
        let numbers = uploading
        uploading = []
        isHolding = false
        var isBehind = false
        outcomes: for (number, result) in zip(numbers, results) {
            switch result {
            case .applied, .duplicate:
                // Changesets before a gap haven't been shown to be the device's own.
                if number == confirmed + 1 { confirmed = number }
            case .gap(let expected):
                return reset("The server expects changeset \(expected) of this device next, but got a later one.")
            case .conflict: return resetCopy()
            case .unknownBase:
                // The device gets everything again. Its pending changesets are then based on the new tick, and it
                // uploads them once more.
                awaitsNewBase = number
                received = number - 1
                waitingChangesets = []
                isBehind = true
                break outcomes
            }
        }
        var actions: [Action] = []
        if case .verifying(let hello, let check, let opening) = phase {
            if confirmed >= opening.last {
                actions += startFirstBatch(hello, check)
            } else if isQueueAtEnd, waitingChangesets.isEmpty {
                return resetCopy()
            }
        }
        if case .reading(let read) = phase, let held = read.held { actions += finishReading(held.end, held.tick) }
        if isBehind {
            needsEverything = true
            if case .live = phase, !isHeld { actions.append(startReading(from: nil)) }
        } else if case .live = phase, hasAcknowledgement {
            // The tick with the outcome was sent before the device had shown that the changeset is its own.
            actions += ends(frameCount: 0)
        }
        return actions + uploadNext() + followIfPossible()
    }
}
