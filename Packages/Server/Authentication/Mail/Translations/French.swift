extension MailTranslations {
    static let french = #"""
        msgid ""
        msgstr ""
        "Language: fr\n"
        "X-Language-Name: Français\n"
        "Plural-Forms: nplurals=2; plural=(n > 1);\n"
        "Content-Type: text/plain; charset=UTF-8\n"

        # Packages/Server/Authentication/Mail/Texts/AccountNotice.swift

        msgid "Your password was changed"
        msgstr "Votre mot de passe a été modifié"

        msgid "A second factor was set up"
        msgstr "Un second facteur a été configuré"

        msgid "Your second factor was removed"
        msgstr "Votre second facteur a été supprimé"

        msgid "The password of your account with this address was changed on {0}. All earlier logins were ended."
        msgstr "Le mot de passe de votre compte associé à cette adresse a été modifié le {0}. Toutes les sessions ouvertes auparavant ont été fermées."

        msgid "If it was you, there is nothing to do. If it wasn't you, set a new password at once with \"Forgot your password?\", and tell the server's operator."
        msgstr "Si c’était vous, vous n’avez rien à faire. Sinon, définissez tout de suite un nouveau mot de passe avec « Mot de passe oublié ? » et prévenez l’exploitant du serveur."

        msgid "An authenticator app was set up as the second factor of your account with this address on {0}."
        msgstr "Le {0}, une application d’authentification a été configurée comme second facteur de votre compte associé à cette adresse."

        msgid "If it was you, there is nothing to do. If it wasn't you, change your password, and tell the server's operator, who can remove the second factor."
        msgstr "Si c’était vous, vous n’avez rien à faire. Sinon, changez votre mot de passe et prévenez l’exploitant du serveur, qui peut supprimer le second facteur."

        msgid "The second factor of your account with this address was removed on {0}, by you or by somebody who manages accounts. From now on, your password alone logs you in."
        msgstr "Le second facteur de votre compte associé à cette adresse a été supprimé le {0}, par vous ou par une personne qui gère les comptes. Désormais, votre mot de passe suffit pour vous connecter."

        msgid "If you didn't expect this, change your password at once, set up a second factor again, and tell the server's operator."
        msgstr "Si vous ne vous y attendiez pas, changez tout de suite votre mot de passe, configurez de nouveau un second facteur et prévenez l’exploitant du serveur."

        # Packages/Server/Authentication/Mail/Texts/Mail+Accounts.swift

        msgid "Confirm your e-mail address"
        msgstr "Confirmez votre adresse e-mail"

        msgid "Somebody registered this address. If it was you, confirm it within {0} minutes:"
        msgstr "Quelqu’un a inscrit cette adresse. Si c’était vous, confirmez-la dans les {0} minutes :"

        msgid "If it wasn't you, do nothing: without the confirmation there is no account."
        msgstr "Si ce n’était pas vous, ne faites rien : sans la confirmation, aucun compte n’est créé."

        msgid "Set a new password"
        msgstr "Définir un nouveau mot de passe"

        msgid "Somebody asked for a new password for the account with this address. If it was you, set it within {0} minutes:"
        msgstr "Quelqu’un a demandé un nouveau mot de passe pour le compte associé à cette adresse. Si c’était vous, définissez-le dans les {0} minutes :"

        msgid "If it wasn't you, do nothing: the password stays."
        msgstr "Si ce n’était pas vous, ne faites rien : le mot de passe reste le même."

        msgid "You already have an account"
        msgstr "Vous avez déjà un compte"

        msgid "Somebody registered this address, which already has an account. If it was you, log in, or ask for a new password. If it wasn't you, there is nothing to do."
        msgstr "Quelqu’un a voulu inscrire cette adresse, qui a déjà un compte. Si c’était vous, connectez-vous ou demandez un nouveau mot de passe. Sinon, vous n’avez rien à faire."

        msgid "An account for you"
        msgstr "Un compte pour vous"

        msgid "An administrator created an account for you with this address. Choose its password within {0} days:"
        msgstr "Un administrateur a créé pour vous un compte avec cette adresse. Choisissez-en le mot de passe dans les {0} jours :"

        msgid "If you don't know what this is about, do nothing: nobody can log in to the account without a password."
        msgstr "Si vous ne savez pas de quoi il s’agit, ne faites rien : sans mot de passe, personne ne peut se connecter à ce compte."

        msgid "An administrator had this link sent to you, to set a new password for the account with this address. It's good for {0} minutes:"
        msgstr "Un administrateur vous a fait envoyer ce lien, avec lequel vous pouvez définir un nouveau mot de passe pour le compte associé à cette adresse. Il est valable {0} minutes :"

        msgid "If you don't need a new password, do nothing: everything stays as it is."
        msgstr "Si vous n’avez pas besoin d’un nouveau mot de passe, ne faites rien : tout reste tel quel."

        msgid "Test mail"
        msgstr "E-mail de test"

        msgid "You asked the admin server for a test mail. Mails from this server arrive: there is nothing to do."
        msgstr "Vous avez demandé un e-mail de test au serveur d’administration. Les e-mails de ce serveur arrivent : vous n’avez rien à faire."

        msgid "token {0}"
        msgstr "jeton {0}"

        msgid "token id {0}"
        msgstr "identifiant du jeton {0}"

        # Packages/Server/Authentication/Mail/Texts/Mail+Invitation.swift

        msgid "Somebody"
        msgstr "Quelqu’un"

        msgid "You're invited"
        msgstr "Vous avez une invitation"

        msgid "{0} invites you: the role {1}. Accept within {2} days:"
        msgstr "{0} vous propose le rôle {1}. Acceptez l’invitation dans les {2} jours :"

        msgid "If you don't know what this is about, do nothing."
        msgstr "Si vous ne savez pas de quoi il s’agit, ne faites rien."

        """#
}
