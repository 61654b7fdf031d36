import TomboloLocalization

/// Why a carrier didn't take a mail. It quotes neither the address of a hook nor the arguments of a program, which may have
/// secrets in them.
public enum MailDeliveryError: Error, Hashable, Sendable {
    /// It answered, with a status that isn't from 200 to 299.
    case refused(status: Int)
    /// It didn't answer, or not in time.
    case unreachable
    case unwritable(path: String)
    case notStarted(program: String)
    case failed(program: String, status: Int32)
    /// By a signal, such as this server's after the limit.
    case killed(program: String, limit: Duration)
}

extension MailDeliveryError: CustomStringConvertible {
    /// What happened.
    public var description: String {
        switch self {
        case .refused(let status): localized("The carrier answered with status \(status).")
        case .unreachable: localized("The carrier can't be reached, or didn't answer in time.")
        case .unwritable(let path): localized("The folder \(path) can't be written to.")
        case .notStarted(let program): localized("The program \(program) couldn't be started.")
        case .failed(let program, let status): localized("The program \(program) ended with exit code \(status).")
        case .killed(let program, let limit):
            localized(
                "The program \(program) was ended by a signal. It gets one after \(limit.components.seconds) seconds.")
        }
    }

    /// What to do.
    public var hint: String {
        switch self {
        case .refused(401), .refused(403):
            localized("Check \(MailHook.secretVariable), which it's sent as a bearer token.")
        case .refused(404): localized("Check the address in \(MailHook.variable).")
        case .refused: localized("Its own log should say why.")
        case .unreachable:
            localized(
                "Check the address in \(MailHook.variable), its certificate, and whether this server may connect to it."
            )
        case .unwritable: localized("Let the user that this server runs as write to it.")
        case .notStarted:
            localized("Check its path in \(MailHook.variable), and whether this server's user may run it.")
        case .failed, .killed: localized("Run it by hand as this server's user. Its own log should say why.")
        }
    }
}
