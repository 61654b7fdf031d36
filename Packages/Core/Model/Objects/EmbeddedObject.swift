/// The base class of model classes whose objects live inside exactly one other object and are deleted with it.
///
///     class Address: EmbeddedObject {
///         @Persisted var street: String
///         @Persisted var city: String
///     }
///     class Person: Object {
///         @Persisted var home: Address?
///         @Persisted var others: List<Address>
///     }
///
/// The class has no primary key and no table of its own. The properties of a single embedded object are columns of the
/// parent's table (`home_street`); those of list elements are columns of the list's table.
open class EmbeddedObject: ObjectBase {}
