extension Query where T: Persistable {
    /// The stored form of a projection. If it's an embedded object, its properties can be compared.
    public var persistableValue: Query<T.PersistedType> { Query<T.PersistedType>(node: node) }
}

extension Query where T: QueryableCollection, T.Element.PersistedType: RealmCollectionValue {
    /// The elements' stored forms.
    public var persistableValue: Query<List<T.Element.PersistedType>> {
        Query<List<T.Element.PersistedType>>(node: node)
    }
}

/// Optional enumerations.
public protocol OptionalEnum: RealmCollectionValue {}

extension Optional: OptionalEnum where Wrapped: PersistableEnum {}

extension Query where T: PersistableEnum {
    /// The stored form of an enumeration.
    public var rawValue: Query<T.RawValue> { Query<T.RawValue>(node: node) }
}

extension Query where T: OptionalEnum {
    /// The stored form of an optional enumeration.
    public var rawValue: Query<T.PersistedType> { persistableValue }
}

extension Query where T: QueryableCollection, T.Element: PersistableEnum {
    /// The stored forms of a list's enumerations.
    public var rawValue: Query<List<T.Element.RawValue>> { Query<List<T.Element.RawValue>>(node: node) }
}

extension Query where T: QueryableCollection, T.Element: OptionalEnum, T.Element.PersistedType: RealmCollectionValue {
    /// The stored forms of a list's optional enumerations.
    public var rawValue: Query<List<T.Element.PersistedType>> { persistableValue }
}
