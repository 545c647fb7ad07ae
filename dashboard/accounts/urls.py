"""Addresses of signing in and out, of one's own account, and of people."""

from django.urls import path

from dashboard.accounts import views

urlpatterns = [
    path("login/", views.SignIn.as_view(), name="login"),
    path("logout/", views.SignOut.as_view(), name="logout"),
    path("prove/", views.prove, name="prove"),
    path("welcome/<uidb64>/<token>/", views.Welcome.as_view(), name="welcome"),
    path("me/", views.me, name="me"),
    path("me/password/", views.ChangePassword.as_view(), name="password"),
    path("me/sessions/end/", views.end_own_sessions, name="end-own-sessions"),
    path("people/", views.people, name="people"),
    path("people/new/", views.new_person, name="new-person"),
    path("people/<int:pk>/", views.person, name="person"),
    path("people/<int:pk>/link/", views.person_link, name="person-link"),
    path("people/<int:pk>/sessions/end/", views.person_sessions, name="person-sessions"),
]
