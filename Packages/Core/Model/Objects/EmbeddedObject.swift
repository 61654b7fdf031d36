/// The base class of model classes whose objects live inside another object: exactly one, and no longer than it does.
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
/// It has no primary key and no table of its own: the properties of a single one are columns of the parent's table
/// (`home_street`), those of a list are the columns of the list's table.
open class EmbeddedObject: ObjectBase {}
