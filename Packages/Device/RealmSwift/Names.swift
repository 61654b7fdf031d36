public import Tombolo

/// Names used by generic code written for Realm.
public typealias RealmFetchable = Object
/// Foundation also has this name, so files that import both write `RealmSwift.SortDescriptor`.
public typealias SortDescriptor = Tombolo.SortDescriptor
public typealias RealmSwiftObject = Object
public typealias RealmSwiftEmbeddedObject = EmbeddedObject
