public import Foundation
internal import PostgresClient
internal import Synchronization
internal import TomboloModel

extension Authenticator {
    /// The result of checked credentials: whose they are.
    struct Proof: Sendable {
        let userID: ObjectId
        /// The account's token generation when the credentials were checked.
        let generation: Int64
        var apiKey: ObjectId?
    }

    /// Checks credentials and begins a login session. Anonymous credentials make an account, and so do those of a user
    /// that an outside provider vouches for the first time.
    /// - Parameters:
    ///   - code: a code of the account's second factor, if this server needs one: see ``SecondFactorPolicy``.
    ///   - address: where the request came from, for limits.
    /// - Throws: ``AuthenticationError``, or the database's error.
    public func login(
        _ credentials: LoginCredentials, code: String? = nil, address: String = "",
        device: LoginDevice = LoginDevice(), now: Date = Date()
    ) async throws -> Login {
        let proof = try await prove(credentials, address: address, now: now)
        var isProven = false
        if let code, secondFactor != .ignored, try await secondFactor(of: proof.userID).since != nil {
            try await check(code: code, of: proof.userID, address: address, now: now)
            isProven = true
        }
        return try await begin(
            proof.userID, generation: proof.generation, provider: credentials.provider, device: device,
            apiKey: proof.apiKey, hasSecondFactor: isProven, now: now)
    }

    private func prove(_ credentials: LoginCredentials, address: String, now: Date) async throws -> Proof {
        switch credentials {
        case .emailPassword(let email, let password):
            _ = try await providers.settings(of: Provider.emailPassword, as: EmailPasswordSettings.self)
            let account = try await check(email: email, password: password, address: address)
            if account.isUnused { try await Accounts.noteUse(of: account.userID, pool) }
            return Proof(userID: account.userID, generation: account.generation)
        case .anonymous:
            _ = try await providers.settings(of: Provider.anonymous, as: NoSettings.self)
            try begin(.newAccount, address: address)
            return try await account(Provider.anonymous, Outsider(identifier: ObjectId.generate().stringValue))
        case .token, .function:
            return try await account(
                credentials.provider, try await outsider(credentials, address: address, now: now))
        case .apiKey(let text):
            _ = try await providers.settings(of: Provider.apiKey, as: NoSettings.self)
            return try await proving(address: address) {
                guard let parts = APIKey.parts(text),
                    let found = try await APIKeys.account(parts.id, secret: parts.secret, pool)
                else { throw AuthenticationError.wrongCredentials }
                return Proof(userID: found.userID, generation: found.generation, apiKey: parts.id)
            }
        }
    }

    /// What an outside provider says about a user.
    struct Outsider: Sendable {
        let identifier: String
        var name: String?
        var profile: [String: String] = [:]
    }

    /// Asks the outside provider of a token or a function's payload.
    func outsider(_ credentials: LoginCredentials, address: String, now: Date) async throws -> Outsider {
        switch credentials {
        case .token(let provider, let token):
            guard Provider.isIssuer(provider) else { throw AuthenticationError.noSuchProvider }
            let settings = try await providers.settings(of: provider, as: IssuerSettings.self)
            return try await proving(address: address) {
                let keys = issuerKeys(settings.jwksURL)
                let checked = try await IssuerToken(token, settings, keys, now: now)
                return Outsider(identifier: checked.identifier, name: checked.name, profile: checked.profile)
            }
        case .function(let payload):
            let settings = try await providers.settings(of: Provider.function, as: FunctionSettings.self)
            return try await proving(address: address) { try await CustomFunction(settings).ask(payload) }
        default: throw AuthenticationError.notLinkable
        }
    }

    /// The account of an outside user, created if there is none.
    private func account(_ provider: String, _ outsider: Outsider) async throws -> Proof {
        for _ in 0..<2 {
            if let found = try await Identities.account(
                provider, outsider.identifier, profile: outsider.profile, pool)
            {
                guard found.isEnabled else { throw AuthenticationError.wrongCredentials }
                return Proof(userID: found.userID, generation: found.generation)
            }
            let made = try await Identities.makeAccount(
                provider, outsider.identifier, name: outsider.name ?? "", profile: outsider.profile, pool)
            if let made { return Proof(userID: made, generation: 0) }
        }
        throw AuthenticationError.busy
    }

    /// Runs a check that may take a while, within the limits of the address; failures count.
    private nonisolated(nonsending) func proving<Result>(
        address: String, _ body: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        let group = AddressGroup(address).text
        try begin(.proof, address: address)
        let entered = actions.withLock { actions in
            Swift.Result { () throws(AuthenticationError) in try actions.enter(group) }
        }
        try entered.get()
        defer { actions.withLock { $0.leave(group) } }
        do {
            let result = try await body()
            actions.withLock { $0.giveBack(.proof, address: group) }
            return result
        } catch AuthenticationError.wrongCredentials {
            throw AuthenticationError.wrongCredentials
        } catch {
            actions.withLock { $0.giveBack(.proof, address: group) }
            throw error
        }
    }

    /// Counts an action of an address.
    func begin(_ action: ActionLimiter.Action, address: String) throws(AuthenticationError) {
        let group = AddressGroup(address).text
        let begun = actions.withLock { actions in
            Result { () throws(AuthenticationError) in
                try actions.begin(action, address: group, now: steadySeconds)
            }
        }
        try begun.get()
    }

    private func issuerKeys(_ url: String) -> IssuerKeys {
        issuers.withLock { issuers in
            if let keys = issuers[url] { return keys }
            if issuers.count >= Self.maximumIssuerCount { issuers = [:] }
            let (clock, start) = (clock, start)
            let keys = IssuerKeys(url: url) { (clock.now - start) / .seconds(1) }
            issuers[url] = keys
            return keys
        }
    }
}
