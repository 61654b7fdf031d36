import ArgumentParser
import DevelopmentSupport
import Foundation
import TomboloHTTP
import TomboloInspection
import ToolSupport

/// Which gateway a command asks, with which login, and how it shows the response.
struct GatewayOptions: ParsableArguments {
    static let addressVariable = "TOMBOLO_GATEWAY_URL"
    static let tokenVariable = "TOMBOLO_TOKEN"
    static let keyVariable = "TOMBOLO_API_KEY"

    @Option(
        help: ArgumentHelp(
            "The gateway: http://HOST:PORT or https://HOST:PORT.",
            discussion:
                "Default: \(GatewayOptions.addressVariable), or \(InspectorClient.defaultAddress).",
            valueName: "url"))
    var gateway: String?

    @Option(help: "A PEM file with the only authorities that may have signed the gateway's certificate.")
    var authority: String?

    @Option(help: "Log in with this e-mail address. Prompts for the password, or reads it from standard input.")
    var email: String?

    @Flag(help: "Print the answer's JSON as received.")
    var json = false

    /// Asks the gateway, and prints the response.
    /// - Parameter show: formats the response as text.
    /// - Throws: ``ToolSupport/ToolError``.
    nonisolated(nonsending) func ask(
        _ path: String, _ query: [(name: String, value: String?)], show: (JSON) -> String
    ) async throws {
        let address = gateway ?? Self.variable(Self.addressVariable) ?? InspectorClient.defaultAddress
        if let url = URL(string: address), url.scheme == "http", let host = url.host(),
            !DevelopmentOptions.isLoopback(host)
        {
            Advice.print([
                "\(address) isn't encrypted: anybody on the network path can read the password or the token. Use https."
            ])
        }
        let credentials = try credentials()
        let answer = try await InspectorClient.with(address, trusting: authority) { client -> InspectorClient.Answer in
            switch credentials {
            case .token(let token): return try await client.get(path, query, token: token)
            case .login(let body):
                let login = try await client.logIn(body)
                do {
                    let answer = try await client.get(path, query, token: login.accessToken)
                    await client.logOut(login)
                    return answer
                } catch {
                    await client.logOut(login)
                    throw error
                }
            }
        }
        print(json ? answer.text : show(answer.json))
    }

    private enum Credentials {
        case token(String)
        /// The members of a login request's body.
        case login([String: String])
    }

    private func credentials() throws -> Credentials {
        if let email { return .login(["email": email, "password": try PasswordInput.current(of: email)]) }
        if let token = Self.variable(Self.tokenVariable) { return .token(token) }
        if let key = Self.variable(Self.keyVariable) { return .login(["provider": "api-key", "key": key]) }
        throw ToolError(
            "Nobody is logged in.",
            fix: "Pass --email ADDRESS, or set \(Self.tokenVariable) to an access token, or \(Self.keyVariable) to an "
                + "account's API key.")
    }

    private static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
