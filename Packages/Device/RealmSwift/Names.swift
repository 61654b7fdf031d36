public import Tombolo

/// Names that generic code written for Realm uses.
public typealias RealmFetchable = Object
/// Foundation has the name too, so that files which import both say `RealmSwift.SortDescriptor`.
public typealias SortDescriptor = Tombolo.SortDescriptor
public typealias RealmSwiftObject = Object
public typealias RealmSwiftEmbeddedObject = EmbeddedObject
