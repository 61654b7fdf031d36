extension MailTranslations {
    static let spanish = #"""
        msgid ""
        msgstr ""
        "Language: es\n"
        "X-Language-Name: Español\n"
        "Plural-Forms: nplurals=2; plural=(n != 1);\n"
        "Content-Type: text/plain; charset=UTF-8\n"

        # Packages/Server/Authentication/Mail/Texts/AccountNotice.swift

        msgid "Your password was changed"
        msgstr "Se cambió su contraseña"

        msgid "A second factor was set up"
        msgstr "Se configuró un segundo factor"

        msgid "Your second factor was removed"
        msgstr "Se quitó su segundo factor"

        msgid "The password of your account with this address was changed on {0}. All earlier logins were ended."
        msgstr "La contraseña de su cuenta con esta dirección se cambió el {0}. Se cerraron todas las sesiones anteriores."

        msgid "If it was you, there is nothing to do. If it wasn't you, set a new password at once with \"Forgot your password?\", and tell the server's operator."
        msgstr "Si fue usted, no tiene que hacer nada. Si no, establezca de inmediato una nueva contraseña con «¿Olvidó su contraseña?» y avise a quien opera el servidor."

        msgid "An authenticator app was set up as the second factor of your account with this address on {0}."
        msgstr "El {0} se configuró una aplicación de autenticación como segundo factor de su cuenta con esta dirección."

        msgid "If it was you, there is nothing to do. If it wasn't you, change your password, and tell the server's operator, who can remove the second factor."
        msgstr "Si fue usted, no tiene que hacer nada. Si no, cambie su contraseña y avise a quien opera el servidor, que puede quitar el segundo factor."

        msgid "The second factor of your account with this address was removed on {0}, by you or by somebody who manages accounts. From now on, your password alone logs you in."
        msgstr "El segundo factor de su cuenta con esta dirección se quitó el {0}: lo hizo usted o alguien que gestiona las cuentas. A partir de ahora, basta su contraseña para iniciar sesión."

        msgid "If you didn't expect this, change your password at once, set up a second factor again, and tell the server's operator."
        msgstr "Si no lo esperaba, cambie de inmediato su contraseña, vuelva a configurar un segundo factor y avise a quien opera el servidor."

        # Packages/Server/Authentication/Mail/Texts/Mail+Accounts.swift

        msgid "Confirm your e-mail address"
        msgstr "Confirme su dirección de correo"

        msgid "Somebody registered this address. If it was you, confirm it within {0} minutes:"
        msgstr "Alguien registró esta dirección. Si fue usted, confírmela en un plazo de {0} minutos:"

        msgid "If it wasn't you, do nothing: without the confirmation there is no account."
        msgstr "Si no fue usted, no haga nada: sin la confirmación no se crea ninguna cuenta."

        msgid "Set a new password"
        msgstr "Establecer una nueva contraseña"

        msgid "Somebody asked for a new password for the account with this address. If it was you, set it within {0} minutes:"
        msgstr "Alguien pidió una nueva contraseña para la cuenta con esta dirección. Si fue usted, establézcala en un plazo de {0} minutos:"

        msgid "If it wasn't you, do nothing: the password stays."
        msgstr "Si no fue usted, no haga nada: la contraseña sigue siendo la misma."

        msgid "You already have an account"
        msgstr "Ya tiene una cuenta"

        msgid "Somebody registered this address, which already has an account. If it was you, log in, or ask for a new password. If it wasn't you, there is nothing to do."
        msgstr "Alguien quiso registrar esta dirección, que ya tiene una cuenta. Si fue usted, inicie sesión o pida una nueva contraseña. Si no, no tiene que hacer nada."

        msgid "An account for you"
        msgstr "Una cuenta para usted"

        msgid "An administrator created an account for you with this address. Choose its password within {0} days:"
        msgstr "Un administrador creó una cuenta para usted con esta dirección. Elija su contraseña en un plazo de {0} días:"

        msgid "If you don't know what this is about, do nothing: nobody can log in to the account without a password."
        msgstr "Si no sabe de qué se trata, no haga nada: sin contraseña, nadie puede iniciar sesión en la cuenta."

        msgid "An administrator had this link sent to you, to set a new password for the account with this address. It's good for {0} minutes:"
        msgstr "Un administrador ha hecho que se le envíe este enlace, con el que puede establecer una nueva contraseña para la cuenta con esta dirección. Es válido durante {0} minutos:"

        msgid "If you don't need a new password, do nothing: everything stays as it is."
        msgstr "Si no necesita una nueva contraseña, no haga nada: todo sigue como está."

        msgid "Test mail"
        msgstr "Correo de prueba"

        msgid "You asked the admin server for a test mail. Mails from this server arrive: there is nothing to do."
        msgstr "Usted pidió un correo de prueba al servidor de administración. Los correos de este servidor llegan: no tiene que hacer nada."

        msgid "token {0}"
        msgstr "token {0}"

        msgid "token id {0}"
        msgstr "identificador del token {0}"

        # Packages/Server/Authentication/Mail/Texts/Mail+Invitation.swift

        msgid "Somebody"
        msgstr "Alguien"

        msgid "You're invited"
        msgstr "Tiene una invitación"

        msgid "{0} invites you: the role {1}. Accept within {2} days:"
        msgstr "{0} le invita a asumir el rol {1}. Acepte la invitación en un plazo de {2} días:"

        msgid "If you don't know what this is about, do nothing."
        msgstr "Si no sabe de qué se trata, no haga nada."

        """#
}
