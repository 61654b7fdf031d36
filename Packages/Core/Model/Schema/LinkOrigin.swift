/// The origin of a LinkingObjects property: a link or a list of links.
public struct LinkOrigin: Hashable, Sendable {
    public let className: String
    /// The name of the property in that class.
    public let property: String

    public init(className: String, property: String) {
        self.className = className
        self.property = property
    }
}
