internal import TomboloModel

extension RealmCollection {
    /// The elements, a line for each; objects as they describe themselves, long collections cut.
    public var description: String {
        ObjectText.text("\(type(of: self))", lazy.map(\._tomboloStored), count: count, depth: 0)
    }
}
