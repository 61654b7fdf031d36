public import TomboloModel
internal import TomboloSQLiteStore

/// Gives a model class an `id` for SwiftUI's `ForEach` and similar views. All instances of one object have the same
/// `id`, live or frozen, in every version.
///
///     class Item: Object, ObjectKeyIdentifiable { … }
public protocol ObjectKeyIdentifiable: Identifiable {
    /// The identity, valid while the process runs. It changes when an unmanaged object is added to a Realm.
    var id: UInt64 { get }
}

extension ObjectKeyIdentifiable where Self: ObjectBase {
    public var id: UInt64 { UInt64(bitPattern: Int64(identity)) }
}

extension ObjectBase {
    /// A hash of the object's place in its file, or of the instance while it's unmanaged.
    fileprivate var identity: Int {
        guard let core, let place = _confinedPlace else { return hashValue }
        var hasher = Hasher()
        hasher.combine(core.file.path)
        place.hashIdentity(into: &hasher)
        return hasher.finalize()
    }
}
