internal import Foundation
internal import TomboloModel

extension Authenticator {
    /// Tells the owner of an account by mail what was done to it, if this server sends mails, the account has an
    /// address, and there were fewer than ``ActionLimiter/maximumMails`` of these within an hour. They don't count
    /// towards the mails that anybody can request: otherwise strangers could suppress them.
    ///
    /// The change itself is already done, so a mail that can't be sent is skipped.
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
