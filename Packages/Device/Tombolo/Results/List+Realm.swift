public import Foundation
public import TomboloModel

extension List {
    private var core: RealmCore? {
        switch storage {
        case let list as ManagedList: list.host.core
        case let array as ArrayList: array.place.host.core
        default: nil
        }
    }

    /// The list's Realm, or nil while its object is unmanaged.
    public var realm: Realm? { core.map { Realm(core: $0) } }

    /// Whether the list's object was deleted.
    public var isInvalidated: Bool { storage.map { !$0.isValid } ?? false }

    /// The index of the first element equal to this one, or nil.
    public func index(of element: Element) -> Int? {
        let stored = element._tomboloStored
        return firstIndex { $0._tomboloStored == stored }
    }

    /// Removes the elements at these indexes.
    public func remove(atOffsets offsets: IndexSet) { for position in offsets.reversed() { remove(at: position) } }

    /// Moves the elements at these indexes before the one at `target`, as SwiftUI's `onMove` requests.
    public func move(fromOffsets offsets: IndexSet, toOffset target: Int) {
        var target = target
        var moved = 0
        for source in offsets {
            if source < target {
                // Elements before it that moved past the target have left their places.
                let place = source - moved
                move(from: place, to: target - 1)
                moved += 1
            } else {
                move(from: source, to: target)
                target += 1
            }
        }
    }
}
