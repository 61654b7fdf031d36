internal import Foundation
internal import JWTKit
internal import TomboloRules

/// The checked token of an outside issuer, with whom it identifies.
struct IssuerToken: Sendable {
    /// Longer tokens are refused, in bytes.
    static let maximumByteCount = 16 << 10
    /// The longest string taken from a claim, in bytes.
    static let maximumTextByteCount = 512

    let identifier: String
    let name: String?
    let profile: [String: String]

    private struct NoClaims: JWTPayload {
        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    /// Checks signature, algorithm, issuer, audience and times.
    /// - Throws: ``AuthenticationError/wrongCredentials`` for an invalid token, without saying why;
    ///   ``AuthenticationError/unreachable``.
    init(_ token: String, _ settings: IssuerSettings, _ keys: IssuerKeys, now: Date) async throws {
        guard token.utf8.count <= Self.maximumByteCount, let header = TokenHeader(of: token), let id = header.kid,
            (settings.algorithms ?? ["RS256"]).contains(header.alg),
            IssuerSettings.knownAlgorithms.contains(header.alg), let key = try await keys.key(id)
        else { throw AuthenticationError.wrongCredentials }
        do {
            try await key.verify(token, by: header.alg, as: NoClaims.self)
        } catch {
            throw AuthenticationError.wrongCredentials
        }
        // Exactly the bytes that were signed.
        guard let payload = [UInt8](base64URL: token.split(separator: ".")[1]),
            case .object(let claims)? = try? UserValue(json: payload)
        else { throw AuthenticationError.wrongCredentials }
        try Self.check(claims, settings, now: now)
        guard let identifier = claims[settings.identifier ?? "sub"]?.text, !identifier.isEmpty,
            identifier.utf8.count <= ProviderSchema.maximumIdentifierByteCount, !identifier.utf8.contains(0)
        else { throw AuthenticationError.wrongCredentials }
        self.identifier = identifier
        name = claims[settings.name ?? "name"]?.text.map(Self.shown)
        profile = (settings.profile ?? [:]).compactMapValues { claims[$0]?.text.map(Self.shown) }
    }

    private static func check(
        _ claims: [String: UserValue], _ settings: IssuerSettings, now: Date
    ) throws(AuthenticationError) {
        let now = now.timeIntervalSince1970
        let tolerance = Double(TokenConfiguration.clockToleranceSeconds)
        guard case .string(let issuer)? = claims["iss"], settings.issuers.contains(issuer),
            (claims["aud"]?.texts ?? []).contains(where: { settings.audiences.contains($0) }),
            let expires = claims["exp"]?.number, now < expires + tolerance,
            (claims["nbf"]?.number ?? 0) <= now + tolerance, (claims["iat"]?.number ?? 0) <= now + tolerance
        else { throw .wrongCredentials }
    }

    private static func shown(_ text: String) -> String {
        let plain = String(text.unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }.map(Character.init))
        return String(plain.prefix(maximumTextByteCount / 4))
    }
}

extension UserValue {
    fileprivate var text: String? {
        switch self {
        case .string(let text): text
        case .int(let number): String(number)
        case .bool(let flag): String(flag)
        default: nil
        }
    }

    /// One string or a list of strings.
    fileprivate var texts: [String] {
        switch self {
        case .string(let text): [text]
        case .array(let values): values.compactMap { if case .string(let text) = $0 { text } else { nil } }
        default: []
        }
    }

    fileprivate var number: Double? {
        switch self {
        case .int(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }
}
