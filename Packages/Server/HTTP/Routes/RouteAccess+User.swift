import TomboloLocalization
public import TomboloModel
import TomboloRules

extension RouteAccess where Grant == ObjectId {
    /// For everybody who is logged in, limited to their own account: the handler gets the user's id.
    /// - Parameter thing: the part of the account, such as `logins`.
    public static func own(_ thing: @autoclosure @escaping @Sendable () -> String) -> RouteAccess {
        RouteAccess(
            summary: localized("own \(thing())"), token: .required, forecast: { $0.isAnonymous ? .refused : .ownOnly }
        ) { subject, _, _ in
            guard let user = subject.userID else {
                throw RequestFailure.needsUser
            }
            return user
        }
    }
}
