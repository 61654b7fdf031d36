public import Foundation

/// How to reach a gateway, and where an app keeps its users.
public struct AppConfiguration: Hashable, Sendable {
    /// The gateway's address, `http://host:port` or `https://…`. Logins go there, and synchronisation to its `/sync`.
    public var baseURL: String?
    /// The time limit of a login and of other requests, in milliseconds; synchronisation has limits of its own.
    public var defaultRequestTimeoutMS: Int
    /// The folder for the users' tokens and Realms, or nil for the app's own. An app's data are in a folder with its ID.
    public var rootDirectory: URL?
    /// A file of certificates, in PEM, of the only authorities that may have signed the certificate of an `https` gateway:
    /// for an authority of your own, or to trust no others. Nil for those that the system trusts.
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

    /// The address at which `make up` runs the gateway.
    public static let developmentURL = "http://127.0.0.1:8080"

    /// - Throws: ``AppError`` if it isn't an address.
    func url() throws -> URL {
        let text = baseURL ?? Self.developmentURL
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host() != nil else {
            throw AppError(
                .badRequest, "The base URL '\(text)' isn't a valid address: expected http://host:port or https://host.")
        }
        return url
    }

    /// The gateway's address for synchronisation.
    func syncURL() throws -> URL {
        let base = try url()
        guard var components = URLComponents(url: base, resolvingAgainstBaseURL: false) else {
            throw AppError(.badRequest, "'\(base)' isn't a valid address.")
        }
        components.scheme = components.scheme == "https" ? "wss" : "ws"
        components.path = "/sync"
        guard let url = components.url else { throw AppError(.badRequest, "'\(base)' isn't a valid address.") }
        return url
    }
}
