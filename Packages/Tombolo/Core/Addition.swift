internal import TomboloChangesets
internal import TomboloModel

/// What one `add` has still to do: objects that others lead to are added one after another, not by recursion, for
/// chains of links may be long and may lead in circles.
struct Addition {
    let policy: Realm.UpdatePolicy
    /// Linked to by what was added already.
    var waiting: [Object] = []
    /// The rowids that objects in line will have.
    var reserved: [ObjectIdentifier: Int64] = [:]

    init(policy: Realm.UpdatePolicy) { self.policy = policy }
}

/// What goes into a row and its lists.
struct AddedContent {
    struct AddedList {
        let type: ManagedClass
        let itemLayout: ObjectClass?
        let items: [ListItem]
        /// The list that the app holds, which becomes the managed one.
        let list: (any AnyList)?
    }

    struct Part {
        let object: ObjectBase
        let layout: ObjectClass
        let base: Int
        let prefix: String
    }

    /// In the order of the row's columns.
    var fields: [FieldWrite] = []
    var lists: [AddedList] = []
    /// Embedded objects, which become managed.
    var parts: [Part] = []
    /// Lists in a column, with the object that has them and their property.
    var arrays: [(list: any AnyList, part: Part, column: Int, property: ObjectProperty)] = []
}

/// What an element of a list is made of.
enum ListItem {
    case value(Value)
    /// An object's key, and its rowid where that is known.
    case link(Value, rowid: Int64?)
    /// An unmanaged embedded object.
    case embedded(ObjectBase)
}
