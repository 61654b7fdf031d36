internal import TomboloModel

extension RealmCollection {
    /// The elements, one per line; long collections are shortened.
    public var description: String {
        ObjectText.text("\(type(of: self))", lazy.map(\._tomboloStored), count: count, depth: 0)
    }
}
