/// What happened to the rows of a file between two versions, by class. Elements of lists are rows of their element
/// class, and a change of them is a change of the owner's list as well.
package struct ChangeSet: Hashable, Sendable {
    /// By class position; classes that nothing happened to are left out.
    package private(set) var classes: [Int: ClassChanges] = [:]

    package init() {}

    package init(_ classes: [Int: ClassChanges]) { self.classes = classes.filter { !$0.value.isEmpty } }

    /// Every row of so many classes may have changed.
    package static func everything(classCount: Int) -> ChangeSet {
        ChangeSet(Dictionary(uniqueKeysWithValues: (0..<classCount).map { ($0, .everything) }))
    }

    package var isEmpty: Bool { classes.isEmpty }

    package subscript(classIndex: Int) -> ClassChanges {
        get { classes[classIndex] ?? ClassChanges() }
        set { classes[classIndex] = newValue.isEmpty ? nil : newValue }
    }

    /// Adds what happened afterwards.
    package mutating func merge(_ later: ChangeSet) {
        if isEmpty {
            self = later
            return
        }
        for (classIndex, changes) in later.classes { self[classIndex].merge(changes) }
    }
}
