internal import Foundation
internal import TomboloModel

extension Authenticator {
    /// Mails the owner of an account what became of it, if this server sends mails, the account has an address, and there
    /// were fewer than ``ActionLimiter/maximumMails`` of these within an hour. They are counted apart from mails that anybody
    /// can ask for: strangers must not keep one of these away.
    ///
    /// What it tells of is done: a mail that can't be sent is left out.
    func tell(_ notice: AccountNotice, _ userID: ObjectId, at time: Date) {
        let (pool, attempts) = (pool, attempts)
        try? mailRoom().post {
            guard let email = try await Accounts.details(userID, pool)?.email else { return nil }
            do {
                try await attempts.addMail(attempts.key(.notice, email))
            } catch AuthenticationError.tooManyAttempts {
                return nil
            }
            return notice.mail(to: email, at: time)
        }
    }
}
