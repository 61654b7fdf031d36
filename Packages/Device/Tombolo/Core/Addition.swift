internal import TomboloChangesets
internal import TomboloModel

/// The remaining work of an `add` or `create`. Linked objects are processed in a loop rather than recursively, because
/// chains of links can be long or circular.
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

    /// The row that a waiting object will get. It retains the object, so that the object's identity, which is the key,
    /// stays valid.
    struct Reservation {
        let object: Object
        let key: Value
        let rowid: Int64
    }

    let policy: Realm.UpdatePolicy
    /// Whether objects are copied. Otherwise they become managed.
    let copies: Bool
    /// Objects that are linked from objects already added.
    var waiting: [Object] = []
    var reserved: [Source: Reservation] = [:]

    init(policy: Realm.UpdatePolicy, copies: Bool = false) {
        self.policy = policy
        self.copies = copies
    }
}

/// The content of a row and its lists.
struct AddedContent {
    struct AddedList {
        let type: ManagedClass
        let itemLayout: ObjectClass?
        let items: [ListItem]
        /// The app's list, which becomes the managed list.
        let list: (any AnyList)?
    }

    struct Part {
        let object: ObjectBase
        let layout: ObjectClass
        let base: Int
        let prefix: String
    }

    /// The fields in the order of the row's columns.
    var fields: [FieldWrite] = []
    var lists: [AddedList] = []
    /// Embedded objects that become managed.
    var parts: [Part] = []
    /// Lists stored in a column, with their object and property.
    var arrays: [(list: any AnyList, part: Part, column: Int, property: ObjectProperty)] = []
}

/// The content of a list element.
enum ListItem {
    case value(Value)
    /// The object's key, and its rowid if known.
    case link(Value, rowid: Int64?)
    /// An unmanaged embedded object.
    case embedded(ObjectBase)

    /// Whether it's known which row an element with this content shows.
    var isKnown: Bool { if case .link(_, rowid: nil) = self { false } else { true } }
}
