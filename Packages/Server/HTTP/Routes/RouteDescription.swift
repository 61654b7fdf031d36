/// One route of a service, as tests, logs and documentation see it.
public struct RouteDescription: Hashable, Sendable, CustomStringConvertible {
    /// `GET`, `POST`, …
    public let method: String
    /// With `{name}` for parameters: `/tickets/{id}/move`.
    public let path: String
    /// Who may use it, in words.
    public let access: String
    /// Whether it answers without an access token.
    public let isOpen: Bool

    public var description: String { "\(method) \(path) (\(access))" }

    /// The names of its parameters.
    var parameters: Set<String> {
        Set(
            path.split(separator: "/").filter { $0.hasPrefix("{") && $0.hasSuffix("}") }.map {
                String($0.dropFirst().dropLast())
            })
    }

    /// Whether an address without its query is one of this route's.
    func matches(_ address: some StringProtocol) -> Bool {
        let parts = address.split(separator: "/")
        let own = path.split(separator: "/")
        return parts.count == own.count && zip(own, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }
}
