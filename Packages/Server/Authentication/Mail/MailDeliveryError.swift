import TomboloLocalization

/// Why a carrier didn't accept a mail. It quotes neither the address of a hook nor the arguments of a program, since
/// either may contain secrets.
public enum MailDeliveryError: Error, Hashable, Sendable {
    /// It answered with a status that isn't from 200 to 299.
    case refused(status: Int)
    /// Nothing accepts connections at its address.
    case connectionRefused
    /// Its host name has no address.
    case unknownHost
    /// TLS failed: its certificate isn't accepted, or it doesn't speak TLS.
    case insecure
    /// It didn't answer in time.
    case timeout
    /// The connection failed in another way.
    case unreachable
    case unwritable(path: String)
    case notStarted(program: String)
    case failed(program: String, status: Int32)
    /// A signal ended it, such as this server's after the time limit.
    case killed(program: String, limit: Duration)
}

extension MailDeliveryError {
    init(_ failure: OutgoingFailure) {
        self =
            switch failure {
            case .refused: .connectionRefused
            case .unknownHost: .unknownHost
            case .insecure: .insecure
            case .timeout: .timeout
            case .failed: .unreachable
            }
    }
}

extension MailDeliveryError: CustomStringConvertible {
    /// What happened.
    public var description: String {
        switch self {
        case .refused(let status): localized("The carrier answered with status \(status).")
        case .connectionRefused: localized("The carrier's host refused the connection.")
        case .unknownHost: localized("The carrier's host can't be found by its name.")
        case .insecure: localized("No secure connection to the carrier could be made: TLS failed.")
        case .timeout: localized("The carrier didn't answer in time.")
        case .unreachable: localized("The connection to the carrier failed.")
        case .unwritable(let path): localized("The folder \(path) can't be written to.")
        case .notStarted(let program): localized("The program \(program) couldn't be started.")
        case .failed(let program, let status): localized("The program \(program) ended with exit code \(status).")
        case .killed(let program, let limit):
            localized(
                "The program \(program) was killed by a signal, which it gets after \(limit.components.seconds) "
                    + "seconds.")
        }
    }

    /// What to do.
    public var hint: String {
        switch self {
        case .refused(401), .refused(403):
            localized("Check \(MailHook.secretVariable), which is sent as the bearer token.")
        case .refused(404): localized("Check the address in \(MailHook.variable).")
        case .refused: localized("Its own log should say why.")
        case .connectionRefused:
            localized("Check the host and the port in \(MailHook.variable), and whether the carrier is running.")
        case .unknownHost: localized("Check the host in \(MailHook.variable), and this server's name resolution (DNS).")
        case .insecure:
            localized(
                "The certificate must be valid for the host in \(MailHook.variable) and come from an authority that this "
                    + "server trusts, and the port must speak TLS.")
        case .timeout:
            localized(
                "Check the address in \(MailHook.variable), whether a firewall keeps this server from connecting to it, and "
                    + "the carrier's load.")
        case .unreachable:
            localized("Check the address in \(MailHook.variable), and whether this server may connect to it.")
        case .unwritable: localized("Give this server's user write access to it.")
        case .notStarted:
            localized("Check its path in \(MailHook.variable), and whether this server's user may run it.")
        case .failed, .killed: localized("Run it by hand as this server's user. Its own log should say why.")
        }
    }
}
