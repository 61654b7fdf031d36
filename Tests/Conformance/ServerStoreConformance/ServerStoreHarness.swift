public import TomboloModel
public import TomboloSyncSession

/// How the conformance suite drives a server store: the store itself, and what other services do to the database.
public protocol ServerStoreHarness: Sendable {
    associatedtype Store: ServerStore

    /// Makes an empty database with the tables of a schema.
    static func make(schema: Schema) async throws -> Self

    var store: Store { get }

    /// Writes rows in order and in one transaction, as plain SQL does. Nil rows are deleted.
    func write(_ rows: [(ObjectReference, Row?)]) async throws

    /// Drops the changelog below a tick, as retention does.
    func dropChangelog(below tick: Int64) async throws

    /// Frees all resources.
    func finish() async throws
}

/// Thrown when a store breaks a promise of ``ServerStore``.
public struct ServerStoreConformanceFailure: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

func requireTrue(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    if !condition { throw ServerStoreConformanceFailure(what()) }
}

func requireEqual<Item: Equatable>(_ found: Item, _ expected: Item, _ what: @autoclosure () -> String) throws {
    if found != expected {
        throw ServerStoreConformanceFailure("\(what()): found \(found), expected \(expected)")
    }
}
