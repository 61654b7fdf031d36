public import Foundation
public import Tombolo

/// Writes that open a transaction by themselves, as views' bindings and list gestures do.
@MainActor
public enum ImplicitWrite {
    /// Receives the error of a write that could not be committed, such as text with a character that no property can
    /// hold. The view then shows the value as it was. By default the error is printed to standard error.
    public static var onFailure: @MainActor (any Error) -> Void = { error in
        FileHandle.standardError.write(Data("A view's change wasn't saved: \(error)\n".utf8))
    }

    /// Runs `body` with the live form of a value, in a write transaction if the value is managed: the one that its
    /// Realm is in, or its own. Does nothing if the value was deleted.
    /// - Returns: whether it was done.
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
            // The transaction begins on the newest version, in which the value may be gone.
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

    /// Deletes an object from its Realm. No effect on unmanaged and deleted ones.
    public static func delete(_ object: ObjectBase) {
        guard object.realm != nil else { return }
        change(object) { $0.realm?.delete($0) }
    }

    /// The live form of a value: thawed if it's something frozen, otherwise the value itself. Nil if it was deleted.
    static func thawed<Value>(_ value: Value) -> Value? {
        guard let confined = value as? any ThreadConfined, confined.isFrozen else { return value }
        return thaw(confined) as? Value
    }

    private static func thaw(_ confined: some ThreadConfined) -> Any? { confined.thaw() }
}

/// Changes of lists, as list gestures ask for them.
extension ImplicitWrite {
    /// Appends an element. A frozen object is thawed; a deleted one isn't appended.
    public static func append<Element>(_ element: Element, to list: List<Element>) {
        change(list) { list in
            if let element = thawed(element) { list.append(element) }
        }
    }

    /// Removes an element. No effect if the list has become too short.
    public static func remove<Element>(at position: Int, from list: List<Element>) {
        remove(atOffsets: IndexSet(integer: position), from: list)
    }

    /// Removes elements. Positions beyond the list's end are ignored, since it may have become shorter.
    public static func remove<Element>(atOffsets offsets: IndexSet, from list: List<Element>) {
        change(list) { $0.remove(atOffsets: offsets.intersection(IndexSet(integersIn: 0..<$0.count))) }
    }

    /// Moves elements before the one at `target`, as SwiftUI's `onMove` asks for it.
    public static func move<Element>(fromOffsets offsets: IndexSet, toOffset target: Int, in list: List<Element>) {
        change(list) { list in
            list.move(
                fromOffsets: offsets.intersection(IndexSet(integersIn: 0..<list.count)),
                toOffset: min(target, list.count))
        }
    }
}
