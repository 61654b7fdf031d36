public import Foundation
public import Tombolo

/// Writes that open a transaction by themselves, for views' bindings and list gestures.
@MainActor
public enum ImplicitWrite {
    /// Receives the error of a write that couldn't be committed, for instance because a string contains a character
    /// that no property can hold. The view then shows the previous value. By default the error is printed to standard
    /// error.
    public static var onFailure: @MainActor (any Error) -> Void = { error in
        FileHandle.standardError.write(Data("A view's change wasn't saved: \(error)\n".utf8))
    }

    /// Runs `body` with the live form of a value. If the value is managed, `body` runs in the write transaction that
    /// the Realm is in, or else in a new one. Does nothing if the value was deleted.
    /// - Returns: whether `body` ran and its changes were kept.
    @discardableResult
    public static func change<Confined: ThreadConfined>(_ value: Confined, _ body: (Confined) -> Void) -> Bool {
        guard value.realm != nil else {
            body(value)
            return true
        }
        guard let live = thawed(value), !live.isInvalidated, let realm = live.realm else { return false }
        if realm.isInWriteTransaction {
            body(live)
            return true
        }
        do {
            // The transaction begins on the newest version, where the value may have been deleted.
            return try realm.write {
                if live.isInvalidated { return false }
                body(live)
                return true
            }
        } catch {
            onFailure(error)
            return false
        }
    }

    /// Deletes an object from its Realm. Has no effect on unmanaged or deleted objects.
    public static func delete(_ object: ObjectBase) {
        guard object.realm != nil else { return }
        change(object) { $0.realm?.delete($0) }
    }

    /// The live form of a value: thawed if the value is frozen, otherwise the value itself. Nil if it was deleted.
    static func thawed<Value>(_ value: Value) -> Value? {
        guard let confined = value as? any ThreadConfined, confined.isFrozen else { return value }
        return thaw(confined) as? Value
    }

    private static func thaw(_ confined: some ThreadConfined) -> Any? { confined.thaw() }
}

/// Changes of lists by list gestures.
extension ImplicitWrite {
    /// Appends an element. A frozen object is thawed; a deleted one isn't appended.
    public static func append<Element>(_ element: Element, to list: List<Element>) {
        change(list) { list in
            if let element = thawed(element) { list.append(element) }
        }
    }

    /// Removes an element. Has no effect if the list has become too short.
    public static func remove<Element>(at position: Int, from list: List<Element>) {
        remove(atOffsets: IndexSet(integer: position), from: list)
    }

    /// Removes elements. Ignores positions beyond the list's end, because the list may have become shorter.
    public static func remove<Element>(atOffsets offsets: IndexSet, from list: List<Element>) {
        change(list) { $0.remove(atOffsets: offsets.intersection(IndexSet(integersIn: 0..<$0.count))) }
    }

    /// Moves elements before the one at `target`, as SwiftUI's `onMove` requests.
    public static func move<Element>(fromOffsets offsets: IndexSet, toOffset target: Int, in list: List<Element>) {
        change(list) { list in
            list.move(
                fromOffsets: offsets.intersection(IndexSet(integersIn: 0..<list.count)),
                toOffset: min(target, list.count))
        }
    }
}
