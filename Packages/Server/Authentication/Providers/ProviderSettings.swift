internal import Foundation
internal import TomboloModel

/// The settings of a provider, as `migration-tool providers set` takes them: a JSON object.
protocol ProviderSettings: Codable, Sendable {
    /// All members that the settings can have.
    static var names: [String] { get }
    /// - Throws: ``AuthenticationError/invalidSettings(reason:)``.
    func validate() throws(AuthenticationError)
}

extension ProviderSettings {
    /// - Throws: ``AuthenticationError/invalidSettings(reason:)``, which names the member.
    init(json: String) throws(AuthenticationError) {
        let data = Data(json.utf8)
        guard let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            throw .invalidSettings(reason: "they must be a JSON object.")
        }
        for name in object.keys.sorted() where !Self.names.contains(name) {
            let hint = name.nearest(in: Self.names).map { " Did you mean '\($0)'?" } ?? ""
            throw .invalidSettings(reason: "there is no setting '\(name)'.\(hint)")
        }
        do {
            self = try JSONDecoder().decode(Self.self, from: data)
        } catch DecodingError.keyNotFound(let key, _) {
            throw .invalidSettings(reason: "'\(key.stringValue)' is missing.")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context)
        {
            let place = context.codingPath.map(\.stringValue).joined(separator: ".")
            throw .invalidSettings(reason: "'\(place)' has a value of the wrong type.")
        } catch {
            throw .invalidSettings(reason: "they can't be read.")
        }
        try validate()
    }
}

/// For providers without settings.
struct NoSettings: ProviderSettings {
    static let names: [String] = []
    func validate() throws(AuthenticationError) {}
}

/// The settings of `local-userpass`.
struct EmailPasswordSettings: ProviderSettings {
    enum Confirmation: String, Codable { case mail, none }

    static let names = ["registration", "confirmation", "confirmURL", "resetURL"]

    /// Whether anybody may make an account over HTTP. `migration-tool user add` always can.
    var registration: Bool?
    /// Whether an address must be confirmed by mail before it can log in.
    var confirmation: Confirmation?
    /// Where the links in mails lead: pages or universal links of the app. `?token=…&tokenId=…` is added.
    var confirmURL: String?
    var resetURL: String?

    func validate() throws(AuthenticationError) {
        for (name, text) in [("confirmURL", confirmURL), ("resetURL", resetURL)] {
            guard let text else { continue }
            guard let url = URL(string: text), url.scheme != nil, !text.contains("#") else {
                throw .invalidSettings(reason: "'\(name)' isn't a URL.")
            }
        }
    }
}

/// The settings of an outside token issuer.
struct IssuerSettings: ProviderSettings {
    static let names = ["jwksURL", "issuers", "audiences", "algorithms", "identifier", "name", "profile"]
    /// Signatures with a public key. Shared secrets make no sense in a key set that anybody can fetch.
    static let knownAlgorithms = [
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
    ]
    static let maximumProfileCount = 32

    /// Where the issuer publishes its keys (RFC 7517).
    var jwksURL: String
    /// The accepted values of `iss`.
    var issuers: [String]
    /// The values of which `aud` must contain one.
    var audiences: [String]
    /// The accepted algorithms; only RS256 if it is left out.
    var algorithms: [String]?
    /// The claim that identifies a user permanently; `sub` if it is left out.
    var identifier: String?
    /// The claim with the name to show; `name` if it is left out.
    var name: String?
    /// The claims that go into the user's profile: the claim's name, by its name in the profile.
    var profile: [String: String]?

    func validate() throws(AuthenticationError) {
        guard OutgoingRequest.isAllowed(jwksURL) else {
            throw .invalidSettings(reason: "'jwksURL' must begin with https:// (http:// only on this machine).")
        }
        guard !issuers.isEmpty else { throw .invalidSettings(reason: "'issuers' is empty.") }
        guard !audiences.isEmpty else {
            throw .invalidSettings(reason: "'audiences' is empty: tokens for other apps would be accepted.")
        }
        for algorithm in algorithms ?? [] where !Self.knownAlgorithms.contains(algorithm) {
            throw .invalidSettings(
                reason: "'\(algorithm)' isn't among the algorithms: \(Self.knownAlgorithms.joined(separator: ", ")).")
        }
        guard algorithms?.isEmpty != true else { throw .invalidSettings(reason: "'algorithms' is empty.") }
        guard (profile ?? [:]).count <= Self.maximumProfileCount else {
            throw .invalidSettings(reason: "'profile' has more than \(Self.maximumProfileCount) members.")
        }
    }

    /// The settings that Apple and Google fix. Only the app's own identifier is missing.
    static func preset(_ provider: String) -> [String: [String]] {
        switch provider {
        case Provider.apple:
            ["jwksURL": ["https://appleid.apple.com/auth/keys"], "issuers": ["https://appleid.apple.com"]]
        case Provider.google:
            [
                "jwksURL": ["https://www.googleapis.com/oauth2/v3/certs"],
                "issuers": ["https://accounts.google.com", "accounts.google.com"],
            ]
        default: [:]
        }
    }
}

/// The settings of `custom-function`.
struct FunctionSettings: ProviderSettings {
    static let names = ["url", "secret", "timeoutSeconds"]
    static let timeoutSeconds: ClosedRange<Double> = 0.1...10

    /// Receives the payload by POST, and answers with the user's identifier.
    var url: String
    /// Is sent with each request as `Authorization: Bearer`, so that the function can identify the caller.
    var secret: String?
    var timeoutSeconds: Double?

    func validate() throws(AuthenticationError) {
        guard OutgoingRequest.isAllowed(url) else {
            throw .invalidSettings(reason: "'url' must begin with https:// (http:// only on this machine).")
        }
        guard Self.timeoutSeconds.contains(timeoutSeconds ?? 5) else {
            throw .invalidSettings(reason: "'timeoutSeconds' must be from 0.1 to 10.")
        }
        guard secret?.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) != false else {
            throw .invalidSettings(reason: "'secret' has characters that a header can't carry.")
        }
    }
}
