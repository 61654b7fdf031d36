internal import TomboloChangesets
internal import TomboloModel

/// What one `add` or `create` has still to do: objects that others lead to follow one after another, not by recursion,
/// for chains of links may be long and may lead in circles.
struct Addition {
    /// An unmanaged object, or a row of another Realm.
    enum Source: Hashable {
        case object(ObjectIdentifier)
        case row(ObjectIdentifier, ObjectReference)

        init(_ object: Object) {
            if let row = object.accessor as? ManagedRow {
                self = .row(ObjectIdentifier(row.core), row.reference)
            } else {
                self = .object(ObjectIdentifier(object))
            }
        }
    }

    /// The row that an object in line will have. It keeps the object, by whose identity it is found.
    struct Reservation {
        let object: Object
        let key: Value
        let rowid: Int64
    }

    let policy: Realm.UpdatePolicy
    /// Whether objects stay what they are, and copies of them are made; otherwise they become managed.
    let copies: Bool
    /// Linked to by what was added already.
    var waiting: [Object] = []
    var reserved: [Source: Reservation] = [:]

    init(policy: Realm.UpdatePolicy, copies: Bool = false) {
        self.policy = policy
        self.copies = copies
    }
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
