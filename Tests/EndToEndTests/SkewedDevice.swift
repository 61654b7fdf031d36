import Foundation
import TomboloChangesets
import TomboloModel
import TomboloSyncClient
import TomboloSyncProtocol
import TomboloSyncSession

@testable import TomboloSQLiteStore

/// A device with a wrong clock, subscribed to the listings: the real engine and file, given a time other than this
/// machine's.
final class SkewedDevice {
    let name: String
    let file: URL
    let engine: SyncEngine
    private let skew: Int64
    private let store: StoreFile
    private let writer: InstructionWriter

    /// - Parameter skew: how far its clock is ahead; negative if it's behind.
    init(_ name: String, by skew: Duration, _ platform: Platform, of user: String) async throws {
        self.name = name
        let microseconds = skew / Duration.microseconds(1)
        self.skew = Int64(microseconds)
        file = platform.folder.appending(path: "\(name).tombolo")
        let (path, skew) = (file.path(), self.skew)
        let (host, port) = await platform.gateways[0].address
        guard let url = URL(string: "ws://\(host):\(port)/sync") else { throw EndToEndFailure("No address.") }
        let token = try platform.token(of: user)
        let client = Greeting.newClient()
        engine = try SyncEngine(
            configuration: SyncEngine.Configuration(url: url, accessToken: { token }),
            makeStore: {
                SkewedStore(try SQLiteDeviceStore(path: path, schema: Platform.schema, newClient: client), by: skew)
            }, onReport: { _ in })
        store = try StoreFile(
            path: path, schema: Platform.schema, options: StoreOptions(isSynced: true, durability: .normal),
            newClient: client)
        writer = InstructionWriter(store)
        let listings = Subscription(name: "listings", className: "Listing", predicate: .constant(true))
        try await engine.setSubscriptions(SubscriptionSet(version: 1, subscriptions: [listings]))
    }

    /// Sets a listing's price in a transaction of its own.
    /// - Returns: the transaction's stamp.
    func setPrice(of id: ObjectId, to price: Int64) async throws -> Stamp {
        let schema = Platform.schema
        guard let index = schema.index(of: "Listing"), let column = schema[index].columnIndex("price") else {
            throw EndToEndFailure("There is no class Listing with a price.")
        }
        let instruction = Instruction.set(
            ObjectReference(classIndex: index, key: .objectId(id)),
            [FieldWrite(column: column, value: .int(price))])
        let stamp = try store.writeTransaction {
            try writer.perform(instruction)
            try ChangesetQueue(store).append(
                ChangesetWriter(schema: schema, [instruction]),
                wallMicroseconds: Date().microsecondsSince1970 + skew)
            return try FileMeta.load(store.connection).clock.last
        }
        await engine.changesetQueued()
        return stamp
    }
}

/// The file of a device whose engine has a wrong clock.
private final class SkewedStore: DeviceStore {
    private let store: SQLiteDeviceStore
    private let skew: Int64

    init(_ store: SQLiteDeviceStore, by skew: Int64) { (self.store, self.skew) = (store, skew) }

    var schema: Schema { store.schema }

    func apply(_ end: BatchEnd, frames: [BatchFrame], wallMicroseconds: Int64) throws -> AppliedBatch {
        try store.apply(end, frames: frames, wallMicroseconds: wallMicroseconds + skew)
    }

    func state() throws -> DeviceState { try store.state() }
    func pendingChangesets(
        after number: Int64, maximumCount: Int, maximumByteCount: Int
    ) throws -> [Changeset] {
        try store.pendingChangesets(
            after: number, maximumCount: maximumCount, maximumByteCount: maximumByteCount)
    }
    func stage(_ frame: BatchFrame) throws { try store.stage(frame) }
    func setWantedSubscriptions(_ set: SubscriptionSet) throws { try store.setWantedSubscriptions(set) }
    func refuseSubscriptions(version: Int64, reason: String) throws {
        try store.refuseSubscriptions(version: version, reason: reason)
    }
    func untoldRefusals(after id: Int64) throws -> [UntoldRefusal] { try store.untoldRefusals(after: id) }
    func forgetRefusals(through id: Int64) throws { try store.forgetRefusals(through: id) }
    func noteReset() throws { try store.noteReset() }
    func finishReset() throws { try store.finishReset() }
    func reset(client: ClientID, discardsPending: Bool) throws {
        try store.reset(client: client, discardsPending: discardsPending)
    }
}
