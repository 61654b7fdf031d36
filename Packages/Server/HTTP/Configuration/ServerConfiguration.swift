public import Foundation
public import Logging
public import PostgresClient
public import TomboloAuthentication
import TomboloLocalization

/// The configuration of one of the platform's HTTP servers, read from environment variables.
public struct ServerConfiguration: Sendable {
    /// The address to listen on.
    public var host: String
    /// The TCP port to listen on; 0 takes a free one, which the server prints.
    public var port: Int
    public var database: PostgresConfiguration
    /// Which users need a second factor in the admin server.
    public var secondFactor = SecondFactorPolicy.optional
    /// A hot standby of the database to read from; nil if there is none.
    public var standby: PostgresConfiguration?
    /// The key that signs access tokens. It is the same on every server.
    public var tokenSecret: String
    public var logLevel: Logger.Level
    /// The proxies that are trusted to name a request's client address.
    public var trustedProxies = TrustedProxies.none
    /// Whether each connection of a trusted proxy begins with a PROXY header.
    public var expectsProxyHeader = false
    /// How many connections one address may have at a time; nil for the server's default.
    public var connectionsPerAddress: Int?
    /// The certificate files for HTTPS; nil for HTTP.
    public var certificate: CertificateFiles?
    /// How long the server keeps serving after the shutdown signal, so that load balancers notice.
    public var drainDelay = Duration.zero
    /// Where the server publishes its metrics; nil for nowhere.
    public var metrics: MetricsConfiguration?
    /// The hook that delivers mail to users; nil if there is none.
    public var mail: MailHook?
    /// The file of passwords known from leaks.
    public var breachedPasswords: String?

    public static let hostVariable = "TOMBOLO_HOST"
    public static let databaseVariable = "TOMBOLO_DATABASE_URL"
    public static let standbyVariable = "TOMBOLO_STANDBY_URL"
    public static let secretVariable = "TOMBOLO_JWT_SECRET"
    public static let logLevelVariable = "TOMBOLO_LOG_LEVEL"
    public static let proxiesVariable = "TOMBOLO_TRUSTED_PROXIES"
    public static let proxyProtocolVariable = "TOMBOLO_PROXY_PROTOCOL"
    public static let connectionsVariable = "TOMBOLO_CONNECTIONS_PER_ADDRESS"
    public static let drainVariable = "TOMBOLO_DRAIN_DELAY"
    /// The variable that says which users need a second factor in the admin server.
    public static let secondFactorVariable = SecondFactorPolicy.variable
    public static let defaultHost = "127.0.0.1"
    /// Shorter keys can be guessed: HMAC-SHA256 needs a key as long as its output (RFC 7518, section 3.2).
    public static let minimumSecretBytes = 32

    /// The limits of a server with this configuration.
    public var limits: HTTPLimits {
        var limits = HTTPLimits()
        limits.trustedProxies = trustedProxies
        limits.expectsProxyHeader = expectsProxyHeader
        limits.connectionsPerAddress = connectionsPerAddress
        return limits
    }

    /// The scheme of the server's address.
    public var scheme: String { certificate == nil ? "http" : "https" }

    /// The server's address with its actual port.
    package func address(port: Int) -> String { ListeningAddress.text(scheme, host, port) }

    /// Reads the certificate, if one is configured.
    /// - Throws: ``CertificateError``.
    public func loadCertificate(logger: Logger) throws(CertificateError) -> TLSCertificate? {
        guard let certificate else { return nil }
        return try TLSCertificate(certificate, logger: logger)
    }

    /// - Throws: ``ConfigurationError`` for anything but a policy of the admin server.
    package static func secondFactor(_ text: String) throws(ConfigurationError) -> SecondFactorPolicy {
        if let policy = SecondFactorPolicy(rawValue: text), policy != .ignored { return policy }
        throw ConfigurationError(problems: [
            localized("\(secondFactorVariable) is '\(text)': choose optional, everywhere or everybody.")
        ])
    }

    /// Reads the environment. `host` and `port`, from the command line, override it.
    /// - Parameter portVariable: the service's own variable, such as `TOMBOLO_ADMIN_PORT`.
    /// - Throws: ``ConfigurationError`` with every problem at once. It never quotes a secret.
    public init(
        environment: [String: String] = ProcessInfo.processInfo.environment, portVariable: String, defaultPort: Int,
        host: String? = nil, port: Int? = nil
    ) throws(ConfigurationError) {
        var problems: [String] = []
        func text(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }

        self.host = host ?? text(Self.hostVariable) ?? Self.defaultHost
        self.port = defaultPort
        if let port {
            if (0...65_535).contains(port) {
                self.port = port
            } else {
                problems.append("--port is \(port): use a number from 0 to 65535; 0 picks a free port.")
            }
        } else if let value = text(portVariable) {
            if let number = Int(value), (0...65_535).contains(number) {
                self.port = number
            } else {
                problems.append("\(portVariable) is '\(value)': use a number from 0 to 65535; 0 picks a free port.")
            }
        }

        database = PostgresConfiguration()
        if let url = text(Self.databaseVariable) {
            do {
                database = try PostgresConfiguration(url)
            } catch {
                problems.append(
                    "\(Self.databaseVariable) is not a PostgreSQL URL: use "
                        + "postgresql://USER:PASSWORD@HOST:PORT/DATABASE.")
            }
        } else {
            problems.append(
                "\(Self.databaseVariable) is not set: use postgresql://USER:PASSWORD@HOST:PORT/DATABASE.")
        }

        if let url = text(Self.standbyVariable) {
            standby = try? PostgresConfiguration(url)
            if standby == nil {
                problems.append(
                    "\(Self.standbyVariable) is not a PostgreSQL URL: use "
                        + "postgresql://USER:PASSWORD@HOST:PORT/DATABASE.")
            }
        }
        tokenSecret = text(Self.secretVariable) ?? ""
        if tokenSecret.isEmpty {
            problems.append(
                "\(Self.secretVariable) is not set: make one with 'openssl rand -hex 32' and give all servers the same."
            )
        } else if tokenSecret.utf8.count < Self.minimumSecretBytes {
            problems.append(
                "\(Self.secretVariable) has \(tokenSecret.utf8.count) bytes: use at least \(Self.minimumSecretBytes), "
                    + "for example from 'openssl rand -hex 32'.")
        }

        logLevel = .info
        if let value = text(Self.logLevelVariable) {
            if let level = Logger.Level(rawValue: value.lowercased()) {
                logLevel = level
            } else {
                let known = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
                problems.append("\(Self.logLevelVariable) is '\(value)': choose one of \(known).")
            }
        }
        if let value = text(Self.proxiesVariable) {
            do throws(ConfigurationError) {
                trustedProxies = try TrustedProxies(value)
            } catch {
                problems += error.problems.map { "\(Self.proxiesVariable): \($0)" }
            }
        }
        switch text(Self.proxyProtocolVariable) {
        case nil, "off": break
        case "on" where text(Self.proxiesVariable) == nil:
            problems.append(
                "\(Self.proxyProtocolVariable) is on, but no proxy is trusted: name the proxies in "
                    + "\(Self.proxiesVariable), such as 10.0.0.0/8.")
        case "on": expectsProxyHeader = true
        case let value?: problems.append("\(Self.proxyProtocolVariable) is '\(value)': choose on or off.")
        }
        if let value = text(Self.secondFactorVariable) {
            do throws(ConfigurationError) {
                secondFactor = try Self.secondFactor(value)
            } catch {
                problems += error.problems
            }
        }
        if let value = text(Self.connectionsVariable) {
            if let number = Int(value), number > 0 {
                connectionsPerAddress = number
            } else {
                problems.append("\(Self.connectionsVariable) is '\(value)': use a number greater than 0.")
            }
        }
        if let value = text(Self.drainVariable) {
            let most = Int(Readiness.maximumDrainDelay.components.seconds)
            if let number = Int(value), (0...most).contains(number) {
                drainDelay = .seconds(number)
            } else {
                problems.append("\(Self.drainVariable) is '\(value)': use a number of seconds from 0 to \(most).")
            }
        }
        switch (text(CertificateFiles.certificateVariable), text(CertificateFiles.keyVariable)) {
        case (let certificate?, let key?): self.certificate = CertificateFiles(certificate: certificate, key: key)
        case (nil, nil): break
        case (let certificate, _):
            let missing = certificate == nil ? CertificateFiles.certificateVariable : CertificateFiles.keyVariable
            problems.append("\(missing) is not set: TLS needs a certificate and its key, each in a PEM file.")
        }
        if let value = text(MetricsConfiguration.portVariable) {
            if let number = Int(value), (0...65_535).contains(number) {
                metrics = MetricsConfiguration(
                    host: text(MetricsConfiguration.hostVariable) ?? Self.defaultHost, port: number)
            } else {
                problems.append(
                    "\(MetricsConfiguration.portVariable) is '\(value)': use a number from 0 to 65535; 0 picks a free "
                        + "port.")
            }
        }
        do throws(AuthenticationError) {
            mail = try MailHook(text(MailHook.variable) ?? "", secret: text(MailHook.secretVariable))
        } catch {
            problems.append(error.description)
        }
        breachedPasswords = text(BreachedPasswords.variable)
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
    }
}
