public import Tombolo

/// Names that generic code written for Realm uses.
public typealias RealmFetchable = Object
public typealias RealmSwiftObject = Object
public typealias RealmSwiftEmbeddedObject = EmbeddedObject
