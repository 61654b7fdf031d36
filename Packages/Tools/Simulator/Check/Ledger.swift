internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncSession

/// Follows every local write transaction from its commit on the device to its outcome, under whatever numbers and
/// client IDs it travels.
final class Ledger {
    struct Entry {
        let hits: Int64
        var committed = 0
        var refused = 0
    }

    private struct Name: Hashable {
        let client: ClientID
        let number: Int64
        let fingerprint: Int64
    }

    private let schema: Schema
    private(set) var entries: [Entry] = []
    private var tags: [Name: Int] = [:]

    init(schema: Schema) { self.schema = schema }

    private func name(_ changeset: Changeset, _ client: ClientID) -> Name {
        Name(client: client, number: changeset.number, fingerprint: changeset.fingerprint(in: schema))
    }

    private func client(_ store: SimulatedDeviceStore) -> ClientID {
        (try? store.state().client) ?? ClientID(rawValue: 0)
    }

    func register(_ changeset: Changeset, _ store: SimulatedDeviceStore) {
        var hits: Int64 = 0
        for instruction in changeset.instructions {
            if case .add(let reference, _, let amount) = instruction,
                reference.classIndex == SimulatedSchema.vault
            {
                hits += amount
            }
        }
        tags[name(changeset, client(store))] = entries.count
        entries.append(Entry(hits: hits))
    }

    /// The pending changesets' entries, in order.
    func tags(of store: SimulatedDeviceStore) -> [Int] {
        store.pending.compactMap { tags[name($0, client(store))] }
    }

    /// After a reset, renames the same changesets.
    func rename(_ store: SimulatedDeviceStore, _ known: [Int]) {
        for (changeset, tag) in zip(store.pending, known) { tags[name(changeset, client(store))] = tag }
    }

    /// Records that a changeset's outcome was committed. Returns what's wrong, or nil.
    func commit(_ upload: Upload, isRefused: Bool) -> String? {
        guard let tag = tags[name(upload.changeset, upload.client)] else {
            return "changeset \(upload.changeset.number) of \(upload.client) was never written by a device"
        }
        if isRefused { entries[tag].refused += 1 } else { entries[tag].committed += 1 }
        guard entries[tag].committed + entries[tag].refused == 1 else {
            return "changeset \(upload.changeset.number) of \(upload.client) took effect "
                + "\(entries[tag].committed + entries[tag].refused) times"
        }
        return nil
    }

    /// Checks that every changeset has exactly one outcome. Returns what's wrong, or nil.
    func checkEnd() -> String? {
        for (tag, entry) in entries.enumerated() where entry.committed + entry.refused != 1 {
            return "local write \(tag) has \(entry.committed + entry.refused) outcomes: an edit was lost"
        }
        return nil
    }

    var acceptedHits: Int64 { entries.reduce(0) { $0 + ($1.committed > 0 ? $1.hits : 0) } }
}
