internal import Foundation

/// Where a Redis server is and how to log in: `redis://[[user]:password@]host[:port]`, or `rediss://…` for TLS. Its
/// description leaves out the password.
public struct RedisAddress: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    public static let defaultPort = 6379

    public let host: String
    public let port: Int
    public let usesTLS: Bool
    let user: String?
    let password: String?
    /// A PEM file with the only certificate authorities to trust for the server's certificate, or nil for the
    /// system's.
    public var trustedCertificates: String?

    /// - Returns: nil if the text isn't such an address.
    public init?(_ text: String) {
        guard let parts = URLComponents(string: text), parts.scheme == "redis" || parts.scheme == "rediss",
            let host = parts.host, !host.isEmpty, (1...65_535).contains(parts.port ?? Self.defaultPort),
            parts.path.isEmpty || parts.path == "/", parts.query == nil, parts.fragment == nil
        else { return nil }
        usesTLS = parts.scheme == "rediss"
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = parts.port ?? Self.defaultPort
        password = parts.password.flatMap { $0.isEmpty ? nil : $0 }
        user = password == nil ? nil : parts.user.flatMap { $0.isEmpty ? nil : $0 }
        if password == nil, parts.user?.isEmpty == false { return nil }
    }

    public var description: String {
        "\(usesTLS ? "rediss" : "redis")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["address": description]) }
}
