public import Foundation

/// How to reach a gateway, and where an app keeps its users.
public struct AppConfiguration: Hashable, Sendable {
    /// The gateway's address, `http://host:port` or `https://…`. Logins use this address, and synchronisation uses its
    /// `/sync`.
    public var baseURL: String?
    /// The timeout of logins and other requests, in milliseconds. Synchronisation has its own timeouts.
    public var defaultRequestTimeoutMS: Int
    /// The folder for the users' tokens and Realms, or nil for the app's default folder. Each app's data is in a
    /// subfolder with its ID.
    public var rootDirectory: URL?
    /// A PEM file with the only certificate authorities to trust for an `https` gateway. Use it for your own authority,
    /// or to pin a few. Nil trusts the authorities that the system trusts.
    public var trustedCertificates: URL?

    public init(
        baseURL: String? = nil, defaultRequestTimeoutMS: Int = 15_000, rootDirectory: URL? = nil,
        trustedCertificates: URL? = nil
    ) {
        self.trustedCertificates = trustedCertificates
        self.baseURL = baseURL
        self.defaultRequestTimeoutMS = defaultRequestTimeoutMS
        self.rootDirectory = rootDirectory
    }

    /// The address where `make up` runs the gateway.
    public static let developmentURL = "http://127.0.0.1:8080"

    /// - Throws: ``AppError`` if ``baseURL`` isn't an address.
    func url() throws -> URL {
        let text = baseURL ?? Self.developmentURL
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host() != nil else {
            throw AppError(
                .badRequest, "The base URL '\(text)' isn't valid: expected http://host:port or https://host.")
        }
        return url
    }

    /// The gateway's address for synchronisation.
    func syncURL() throws -> URL {
        let base = try url()
        guard var components = URLComponents(url: base, resolvingAgainstBaseURL: false) else {
            throw AppError(.badRequest, "'\(base)' isn't a valid URL.")
        }
        components.scheme = components.scheme == "https" ? "wss" : "ws"
        components.path = "/sync"
        guard let url = components.url else { throw AppError(.badRequest, "'\(base)' isn't a valid URL.") }
        return url
    }
}
