package import TomboloHTTP
import TomboloModel
package import TomboloRules
package import TomboloServerModel
import TomboloLocalization

/// Decides whose account a caller who may change accounts may change: nobody's who may do more than the caller.
///
/// It compares what both may do, not the names of their roles. What the rules give everybody through their own id,
/// such as access to their own objects, counts as equal. What the rules give to one person named by id or address
/// doesn't.
package enum AccountAuthority {
    /// Why the caller may not change an account; nil if they may.
    package static func refusal(
        of subject: Subject, changing target: Subject, _ model: ServerModel
    ) -> RequestFailure? {
        guard subject.userID != target.userID else { return nil }
        var data = target.data
        data["isVerified"] = subject.data["isVerified"]
        return refusal(of: subject, over: target, takenFor: data, model)
    }

    /// Why the caller may not mark an account's address as verified, or as unverified; nil if they may.
    ///
    /// A verified address may permit its user more, so the result is compared with what the caller may do. Rules that
    /// refer to the address may favour anybody who entered it, so the caller is compared with their own address.
    /// Nobody may do this for their own account.
    package static func refusal(
        of subject: Subject, verifying target: Subject, _ model: ServerModel
    ) -> RequestFailure? {
        guard !model.isSuperAdministrator(subject) else { return nil }
        guard let user = target.userID, user != subject.userID else {
            return RequestFailure(
                .forbidden, localized("Not permitted: you can't change whether your own address is verified."),
                hint: localized("Another administrator can."))
        }
        let verified = Subject(
            user: user, data: target.data.merging(["isVerified": .bool(true)]) { $1 }, customData: target.customData,
            grants: target.grants)
        return refusal(of: subject, over: verified, takenFor: subject.data, model)
    }

    /// - Parameter data: the account data that stands in for the caller's own where rules compare it with objects.
    private static func refusal(
        of subject: Subject, over target: Subject, takenFor data: [String: UserValue], _ model: ServerModel
    ) -> RequestFailure? {
        guard !model.isSuperAdministrator(subject), let user = target.userID else { return nil }
        for app in model.matrices.keys.sorted() {
            for operation in [TomboloRules.Operation.read, .update]
            where model.refusal(target, operation, ofMatrixOf: app) == nil
                && model.refusal(subject, operation, ofMatrixOf: app) != nil
            {
                return above(
                    operation == .read
                        ? localized("Not permitted: they may see the permission matrix of \(app), but you may not.")
                        : localized(
                            "Not permitted: they may change the permission matrix of \(app), but you may not."))
            }
        }
        let equal = Subject(user: user, data: data, customData: subject.customData, grants: subject.grants)
        switch model.rules.advantage(of: target, over: subject, withObjectsOf: equal) {
        case .objects(let operation, let name):
            return above(localized("Not permitted: they may \(operation.verb) objects of \(name) that you may not."))
        case .properties(let name):
            return above(localized("Not permitted: they may read properties of \(name) that you may not."))
        case nil: return nil
        }
    }

    private static func above(_ message: String) -> RequestFailure {
        RequestFailure(
            .forbidden, message, hint: localized("You can't change the account of somebody who may do more than you."))
    }
}
