public import TomboloChangesets
public import TomboloModel
public import TomboloSyncSession

/// How the conformance suite drives a device store: the store itself, and what an app does with the same file.
public protocol DeviceStoreHarness: AnyObject {
    associatedtype Store: DeviceStore

    /// A new, empty store.
    init(schema: Schema, client: ClientID) throws

    /// The store. ``restart()`` replaces it.
    var store: Store { get }

    /// Commits a local write transaction.
    func write(_ instructions: [Instruction], wallMicroseconds: Int64) throws

    /// What the app sees of a class, in any order.
    func rows(ofClass classIndex: Int) throws -> [Row]

    /// Kills the process and starts it again.
    func restart() throws
}

/// Thrown when a store breaks a promise of ``DeviceStore``.
public struct ConformanceFailure: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

func requireTrue(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    if !condition { throw ConformanceFailure(what()) }
}

func requireEqual<Item: Equatable>(_ found: Item, _ expected: Item, _ what: @autoclosure () -> String) throws {
    if found != expected { throw ConformanceFailure("\(what()): found \(found), expected \(expected)") }
}
