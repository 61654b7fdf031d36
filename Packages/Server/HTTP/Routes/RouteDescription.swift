/// One route of a service, as tests, logs and documentation show it.
public struct RouteDescription: Hashable, Sendable, CustomStringConvertible {
    /// `GET`, `POST`, …
    public let method: String
    /// With `{name}` for parameters: `/tickets/{id}/move`.
    public let path: String
    /// Who may use it, in words of the page's language, or in English if there is no page.
    public var access: String { words() }
    /// Whether it answers without an access token.
    public let isOpen: Bool
    /// The words of ``access``, in the page's language.
    private let words: @Sendable () -> String

    init(method: String, path: String, access: @escaping @Sendable () -> String, isOpen: Bool) {
        (self.method, self.path, self.isOpen) = (method, path, isOpen)
        words = access
    }

    public static func == (one: RouteDescription, other: RouteDescription) -> Bool {
        (one.method, one.path, one.isOpen) == (other.method, other.path, other.isOpen) && one.access == other.access
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(path)
    }

    public var description: String { "\(method) \(path) (\(access))" }

    /// The names of its parameters.
    var parameters: Set<String> {
        Set(
            path.split(separator: "/").filter { $0.hasPrefix("{") && $0.hasSuffix("}") }.map {
                String($0.dropFirst().dropLast())
            })
    }

    /// Whether an address without its query belongs to this route.
    func matches(_ address: some StringProtocol) -> Bool {
        let parts = address.split(separator: "/")
        let own = path.split(separator: "/")
        return parts.count == own.count && zip(own, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }
}
