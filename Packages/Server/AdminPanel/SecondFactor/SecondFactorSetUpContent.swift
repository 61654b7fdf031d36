import TomboloAuthentication

/// The values for the template `second_factor_set_up`: the secret, for an authenticator app.
struct SecondFactorSetUpContent: Sendable {
    struct Picture: Sendable {
        let side: Int
        let path: String
    }

    private static let groupLength = 4

    /// Nil if the address is too long for a QR code.
    let picture: Picture?
    /// In groups, for typing.
    let secret: String
    let uri: String
    let problem: String?

    init(_ pending: SecondFactor.Pending, problem: String?) {
        picture = QRCode(pending.uri).map { Picture(side: $0.side, path: $0.path) }
        secret = stride(from: 0, to: pending.secret.count, by: Self.groupLength).map { start in
            String(pending.secret.dropFirst(start).prefix(Self.groupLength))
        }.joined(separator: " ")
        uri = pending.uri
        self.problem = problem
    }
}
