/// The changes of a file's rows between two versions, by class. List elements are rows of their element class. Changing
/// an element also changes its owner's list.
package struct ChangeSet: Hashable, Sendable {
    /// By class position; unchanged classes are left out.
    package private(set) var classes: [Int: ClassChanges] = [:]

    package init() {}

    package init(_ classes: [Int: ClassChanges]) { self.classes = classes.filter { !$0.value.isEmpty } }

    /// A set in which every row of the first `classCount` classes may have changed.
    package static func everything(classCount: Int) -> ChangeSet {
        ChangeSet(Dictionary(uniqueKeysWithValues: (0..<classCount).map { ($0, .everything) }))
    }

    package var isEmpty: Bool { classes.isEmpty }

    package subscript(classIndex: Int) -> ClassChanges {
        get { classes[classIndex] ?? ClassChanges() }
        set { classes[classIndex] = newValue.isEmpty ? nil : newValue }
    }

    /// Adds later changes.
    package mutating func merge(_ later: ChangeSet) {
        if isEmpty {
            self = later
            return
        }
        for (classIndex, changes) in later.classes { self[classIndex].merge(changes) }
    }
}
